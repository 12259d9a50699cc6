// Charts in the page's theme, and as wide as a telephone: stands before vegaEmbed, so that a chart
// itself says only how it looks on white, with room. Drawn anew when theme or width change.
(() => {
  if (!window.vegaEmbed) return;
  const embed = vegaEmbed, charts = new Map();
  const telephone = matchMedia("(max-width: 720px)");
  const isDark = () => document.documentElement.dataset.theme === "dark";

  // Every part of a chart but its data, changed by `change(key, value)`.
  const walk = (part, change) => {
    if (!part || typeof part !== "object") return;
    for (const [key, value] of Object.entries(part)) {
      if (key === "data" || key === "datasets") continue;
      part[key] = change(key, value);
      walk(part[key], change);
    }
  };

  // Greys change places with each other. Colours keep hue and order, what was darker than another still
  // is: they become lighter, or darker where letters stand on them.
  const onDark = written => hex => {
    const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
    const grey = Math.max(r, g, b) - Math.min(r, g, b) < 16;
    const to = grey ? c => 255 - 0.88 * c : written ? c => 0.55 * c : c => c + 0.3 * (255 - c);
    return "#" + [r, g, b].map(c => Math.round(to(c)).toString(16).padStart(2, "0")).join("");
  };
  const NAMED = {white: "#ffffff", black: "#000000"};
  const HEX = /#[0-9a-f]{6}\b/gi;
  const TEXT = "#d6d6d6";
  const kind = layer => layer.mark?.type || layer.mark;
  const isWritten = ({layer = [], spec = {}, vconcat = []}) => spec.layer ? isWritten(spec)
    : vconcat.some(isWritten) || layer.some(l => kind(l) === "text") && layer.some(l => ["rect", "bar"].includes(kind(l)));
  const darken = spec => {
    const written = isWritten(spec), to = onDark(written);
    walk(spec, (_, value) => typeof value !== "string" ? value
      : NAMED[value] ? to(NAMED[value]) : value.replace(HEX, to));
    const config = spec.config ||= {};
    const letters = {labelColor: TEXT, titleColor: TEXT, symbolBaseFillColor: TEXT};
    const viridis = {scheme: "viridis", extent: [0.15, 1]};  // its first colours are near black
    config.background = "transparent";
    for (const part of ["axis", "legend", "header"]) config[part] = {...config[part], ...letters};
    if (written) walk(spec, (_, value) => value?.type === "text" ? {...value, color: TEXT} : value);
    config.title = {...config.title, color: TEXT, subtitleColor: TEXT};
    for (const part of ["text", "rule"]) config[part] = {color: TEXT, ...config[part]};
    config.range = {...config.range, ordinal: viridis, ramp: viridis, heatmap: viridis};
  };

  // On a telephone: letters of an axis' title, and of a chart's; pixels of a plot.
  const LETTERS = 24, ABOVE = 32, LEAST = 60;
  const lines = (text, most) => text.split(" ").reduce((rows, word) => {
    const longer = `${rows.at(-1)} ${word}`;
    return longer.length > most ? [...rows, word] : [...rows.slice(0, -1), longer.trim()];
  }, [""]);
  const shorter = title => Object.fromEntries(Object.entries(title).map(([key, value]) =>
    [key, ["text", "subtitle"].includes(key) && (value.split || value.map)
      ? [value].flat().flatMap(line => lines(line, ABOVE)) : value]));
  // A grid's cells stand below each other there, in their order, each named by its row and column.
  const isGrid = spec => spec.facet?.row && spec.facet.column;
  const unfolded = spec => {
    const of = [spec.facet.row, spec.facet.column], together = parts => parts.join(" + ', ' + ");
    const value = ({field}) => `datum[${JSON.stringify(field)}]`;
    const place = part => part.sort ? `(100 + indexof(${JSON.stringify(part.sort)}, ${value(part)}))` : value(part);
    spec.transform = [...spec.transform || [], {calculate: together(of.map(value)), as: "cell"},
                      {calculate: together(of.map(place)), as: "place"}];
    spec.facet = {field: "cell", type: "nominal", title: null, sort: {field: "place", op: "min"}};
    spec.columns = 1;
  };
  // Words in a chart would lie on each other, were it narrower: such a chart scrolls in its box.
  const scrolls = spec => (spec.layer || spec.vconcat)?.some(scrolls) || (spec.spec ? scrolls(spec.spec)
    : kind(spec) === "text" && spec.encoding?.text?.type === "nominal");
  const inner = spec => spec.facet ? inner(spec.spec) : spec;
  const narrow = (spec, room) => {
    walk(spec, (key, value) => key === "title" && value?.length > LETTERS && value.split ? lines(value, LETTERS)
      : key === "title" && value?.text?.split ? shorter(value)
      : key === "legend" && value && typeof value === "object"
      ? {...value, orient: "bottom", direction: "vertical", columns: 1} : value);
    const config = spec.config ||= {};
    config.legend = {...config.legend, orient: "bottom", direction: "vertical", columns: 1};
    [spec, ...spec.vconcat || []].filter(isGrid).forEach(unfolded);
    if (spec.facet?.column && !spec.facet.row) spec.facet = spec.facet.column;
    if (spec.concat || (spec.facet && !spec.facet.row)) spec.columns = 1;
    for (const part of spec.vconcat || []) inner(part).width = room - 90;
    if (spec.mark || spec.layer) {
      spec.width = room;
      spec.autosize = {type: "fit-x", contains: "padding"};
    } else if (spec.facet && !spec.facet.column) inner(spec).width = room - 120;
  };

  const draw = async element => {
    const chart = charts.get(element);
    (await chart.drawn.catch(() => null))?.finalize();
    const spec = structuredClone(chart.spec);
    if (isDark()) darken(spec);
    const stays = scrolls(spec), small = telephone.matches && !stays;
    element.toggleAttribute("data-scrolls", stays);
    if (small) narrow(spec, element.clientWidth);
    const made = await embed(element, structuredClone(spec), chart.options);
    const over = element.scrollWidth - element.clientWidth, part = inner(spec);
    if (!small || over <= 0 || !(part.width > over + LEAST)) return made;
    made.finalize();  // names at the side take more than was left for them
    part.width -= over;
    return embed(element, spec, chart.options);
  };
  window.vegaEmbed = (element, spec, options) => {
    const drawn = charts.get(element)?.drawn || Promise.resolve(null);
    charts.set(element, {spec, options, drawn});
    return charts.get(element).drawn = draw(element);
  };
  const again = () => {
    for (const [element, chart] of charts)
      if (element.isConnected) chart.drawn = draw(element); else charts.delete(element);
  };
  new MutationObserver(again).observe(document.documentElement, {attributeFilter: ["data-theme"]});
  telephone.addEventListener("change", again);
})();
