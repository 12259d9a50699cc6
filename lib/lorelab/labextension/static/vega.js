// A container of module federation, as JupyterLab loads its extensions; nothing had to be built.
// It lends JupyterLab's own Vega-Embed, under the name by which a chart of lorelab looks for it.
(() => {
  let shared;
  const embed = async (...given) => {
    const [version] = Object.values(shared["vega-embed"]);
    const module = (await version.get())();
    return module.default(...given);
  };
  const activate = () => { window.vegaEmbed = embed; };
  const plugin = { id: "lorelab:vega", autoStart: true, activate };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.lorelab = {
    init: scope => { shared = scope; },
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
