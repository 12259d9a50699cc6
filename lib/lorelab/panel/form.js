// A form for each .lorelab-panel of the page, whose model panel.js runs. What differs from one
// experiment to another is in the JSON that the page carries: lorelab/panel/show.py writes it.
(() => {
  const {start, counted, csv, printed, list, integer, real} = lorelabPanel;
  const KEPT = 6;  // runs in a chart: more lines nobody tells apart

  const make = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
  };
  // What the library reads as a number: 1_000 as well, and of a float inf and nan.
  const whole = /^[+-]?\d+(_\d+)*(\.0+)?$/;
  const decimal = /^[+-]?((\d+(_\d+)*\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$/i;

  // What a run may not be given: the first line that the library would say of it, or "".
  const within = {ge: (v, n) => v >= n, gt: (v, n) => v > n, le: (v, n) => v <= n,
                  lt: (v, n) => v < n};
  // An expression of the library's, as a tree of lists: lorelab/panel/values.py writes it.
  const worth = (tree, of) => {
    if (typeof tree === "string") return BigInt(tree);
    if (!Array.isArray(tree)) return of[tree.of];
    const [name, ...parts] = tree;
    if (name === "and") return parts.every(part => worth(part, of));
    if (name === "or") return parts.some(part => worth(part, of));
    const [a, b] = parts.map(part => worth(part, of));
    return {not: () => !a, "+": () => a + b, "-": () => a - b, "*": () => a * b, "//": () => a / b,
            "<<": () => a << b, ">>": () => a >> b, "<": () => a < b, "<=": () => a <= b,
            ">": () => a > b, ">=": () => a >= b}[name]();
  };
  const complaint = (about, typed) => {
    const said = [];
    for (const field of about.fields) {
      const text = typed[field.name];
      const say = what => said.push(`${field.name}=${text}: ${what}`);
      if (field.values) {
        if (!field.values.some(([word]) => word === text)) say(field.error);
      } else if (field.kind === "list") {
        const parts = list(text), fits = n => /^[0-9]{1,15}$/.test(n) && n > 0 && n <= field.limit;
        if (parts.length > field.most || !parts.every(fits)) say(field.error);
      } else if (!(field.kind === "int" ? whole : decimal).test(text)) say(field.error);
      else {
        const read = field.kind === "int" ? integer : real, value = read(text);
        for (const [bound, limit, what] of field.bounds) {
          const out = bound === "multiple_of" ? Number(value % read(limit)) !== 0
            : !within[bound](value, read(limit));
          if (out) { say(what); break; }
        }
      }
    }
    if (said.length) return said.join("; ");
    const of = Object.fromEntries(about.fields.map(({name, kind}) => {
      const text = typed[name];
      return [name, {int: integer, float: real, bool: word => word === "true"}[kind]?.(text) ?? text];
    }));
    for (const [when, parts] of about.rules)
      if (worth(when, of))
        return parts.map((part, n) => n % 2 ? printed(worth(part, of)) : part).join("");
    for (const [one, a, other, b, what] of about.refused)
      if (typed[one] === a && typed[other] === b) return what;
    return "";
  };
  const changed = (about, typed, from = "default") =>
    about.fields.filter(field => typed[field.name] !== field[from]);
  const quoted = text => /^[\w.,:/=+-]*$/.test(text) ? text : `"${text}"`;
  const given = (names, typed) =>
    names.map(name => ` -p ${quoted(`${name}=${typed[name]}`)}`).join("");
  // As a command; and as a run of a page, where it takes all that was changed. One that takes no
  // variant shows every variant.
  const command = (about, typed) => {
    const names = changed(about, typed).map(field => field.name);
    const lines = [`lorelab model ${about.experiment}${given(names, typed)}`];
    const [page, taken] = about.rerun ?? ["", []];
    if (page && names.every(name => name === about.variant || taken.includes(name)))
      lines.push(`lorelab run notebooks/${page}.ipynb${given(taken, typed)}`);
    return lines.join("\n");
  };
  // Of each counter the sum of its rows, and their mean: cells of a table. Whole numbers stay whole.
  const sums = text => {
    const of = new Map();
    for (const row of text.trim().split("\n").slice(1)) {
      const [counter, unit, value] = row.split(",").slice(-3);
      if (!of.has(counter)) of.set(counter, {unit, values: []});
      of.get(counter).values.push(value.includes(".") || /[a-z]/.test(value) ? Number(value) : BigInt(value));
    }
    return [...of].map(([counter, {unit, values}]) => {
      const sum = values.reduce((a, b) => a + b);
      return [counter, unit, printed(sum), `${Number((Number(sum) / values.length).toPrecision(6))}`];
    });
  };

  // The page's chart, with the counters of these runs.
  const named = (run, runs) => {
    const others = changed(run.about, run.typed, "start").filter(f => f.name !== run.about.variant);
    const words = others.map(field => `${field.name}=${run.typed[field.name] || '""'}`);
    return runs.length > 1 ? [run.variant, ...words].join(", ") : run.variant;
  };
  const spec = (about, runs) => {
    const names = [...about.counters.map(([counter]) => counter), ...about.more];
    const values = runs.flatMap(run => run.rows.map((row, n) => Object.assign(
      {step: n + about.first, source: "model", variant: named(run, runs)},
      Object.fromEntries(names.map((counter, at) => [counter, Number(row[at])])))));
    return {...about.chart, data: {values}};
  };

  // The values that a link of this panel holds.
  const linked = (about, from) => {
    const asked = new URLSearchParams(from);
    if (asked.get("panel") !== about.experiment) return null;
    return Object.fromEntries(about.fields.map(f => [f.name, asked.get(f.name) ?? f.default]));
  };
  const link = (about, typed, id) => {
    const held = new URLSearchParams({panel: about.experiment});
    for (const field of changed(about, typed)) held.set(field.name, typed[field.name]);
    return `${location.href.split(/[?#]/)[0]}?${held}#${id}`;
  };

  const build = place => {
    const about = JSON.parse(place.querySelector("script").textContent);
    const inputs = {}, runs = [];
    let running = null, ahead = null, looked = false;
    const form = make("form", {className: "fields", noValidate: true});
    for (const field of about.fields) {
      const input = field.values
        ? make("select", {}, ...field.values.map(([word]) =>
            make("option", {value: word, textContent: word || '""'})))
        : make("input", {type: "text", inputMode: field.kind === "list" ? "text" : "decimal", autocomplete: "off", spellcheck: false});
      input.name = field.name;
      inputs[field.name] = input;
      const unit = field.unit && field.unit !== field.name ? ` [${field.unit}]` : "";
      form.append(make("label", {}, make("span", {className: "name", textContent: field.name + unit}),
                       input, make("small", {textContent: field.help})));
    }
    const run = make("button", {type: "submit", textContent: "Run"});
    const cancel = make("button", {type: "button", textContent: "Cancel", disabled: true});
    const reset = make("button", {type: "button", textContent: "Reset"});
    const keep = make("input", {type: "checkbox"});
    const beside = make("label", {className: "keep"}, keep, " beside the runs before");
    const bar = make("progress", {hidden: true, max: 1});
    const line = make("p", {className: "line"});
    line.setAttribute("role", "status");
    const drawn = make("div", {className: "lorelab-run"});
    const typed = () => Object.fromEntries(Object.entries(inputs).map(([n, i]) => [n, i.value.trim()]));
    const fill = values => {
      for (const [name, input] of Object.entries(inputs)) {
        input.value = values[name];
        // A value that a select lacks, as of a link: it is shown, and refused.
        if (input.tagName === "SELECT" && input.value !== values[name])
          input.append(make("option", {value: values[name], textContent: values[name], selected: true}));
      }
      say();
    };
    const copying = (select, text) => {
      const button = make("button", {type: "button", textContent: "Copy"});
      button.onclick = async () => {
        select();
        try { await navigator.clipboard.writeText(text()); } catch { document.execCommand("copy"); }
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      };
      return button;
    };
    const copied = name => {
      const box = make("textarea", {readOnly: true, rows: 6, spellcheck: false, wrap: "off"});
      box.setAttribute("aria-label", name);
      const button = copying(() => box.select(), () => box.value);
      return [make("details", {}, make("summary", {textContent: name}), box, button),
              value => { box.value = value; }];
    };
    const [counters, writeCounters] = copied("Counters, as CSV");
    const [commands, writeCommand] = copied("The same as a command");
    const totals = make("details", {open: true, hidden: true, className: "totals"});
    const total = ran => {
      const head = ["counter", "unit", "sum", "mean"], text = csv(ran), rows = sums(text);
      const row = (kind, cells) => make("tr", {}, ...cells.map(textContent => make(kind, {textContent})));
      const cells = make("table", {}, make("thead", {}, row("th", head)),
                         make("tbody", {}, ...rows.map(each => row("td", each))));
      const over = counted(ran).length;
      totals.replaceChildren(
        make("summary", {textContent: `Sums and means over ${over} row${over === 1 ? "" : "s"}`}), cells,
        copying(() => getSelection().selectAllChildren(cells),
                () => [head, ...rows].map(each => each.join("\t")).join("\n")));
      totals.hidden = counters.hidden = false;
      writeCounters(text);
    };
    const here = make("a", {textContent: "Link to these values"});
    const say = () => {
      writeCommand(command(about, typed()));
      here.href = link(about, typed(), place.id);
    };
    counters.hidden = true;
    const busy = on => {
      run.disabled = on;
      cancel.disabled = !on;
      bar.hidden = true;
      bar.removeAttribute("value");
    };
    const begin = values => {
      const begun = {of: JSON.stringify(values), told: () => {}};
      return Object.assign(begun, start(about, values, (...step) => begun.told(...step)));
    };
    const go = async () => {
      if (running) return;
      const values = typed(), refuses = complaint(about, values);
      line.classList.toggle("bad", !!refuses);
      line.textContent = refuses || "running";
      if (refuses) return;
      busy(true);
      // Some models say nothing of how far they are: their bar only moves.
      const moving = setTimeout(() => { bar.hidden = false; }, 1000);
      if (ahead?.of !== JSON.stringify(values)) {
        ahead?.cancel();
        ahead = begin(values);
      }
      [running, ahead] = [ahead, null];
      running.told = (done, of) => {
        bar.hidden = false;
        bar.value = done / of;
        line.textContent = `running: ${done} of ${of}`;
      };
      try {
        const ran = await running.ran;
        if (!keep.checked) runs.length = 0;
        runs.push(ran);
        if (runs.length > KEPT) runs.shift();
        total(ran);
        line.textContent = `${counted(ran).length} rows of counters in ${(ran.took / 1000).toFixed(2)} s`;
        if (window.vegaEmbed)
          await vegaEmbed(drawn, spec(about, runs), {actions: false, renderer: "svg"});
        place.ran = ran;
      } catch (error) {
        line.classList.add("bad");
        line.textContent = error.message;
      } finally {
        clearTimeout(moving);
        running = null;
        busy(false);
      }
    };
    form.onsubmit = event => { event.preventDefault(); go(); };
    // What is clicked in the chart goes into a list, and out of it again.
    drawn.onclick = ({target}) => {
      const input = inputs[about.clicked], at = `${target.__data__?.datum?.clicked ?? ""}`;
      if (!input || !at || running) return;
      const had = list(input.value.trim()), others = had.filter(one => one !== at);
      input.value = (others.length < had.length ? others : [...had, at]).join(",");
      say();
      go();
    };
    form.oninput = say;
    cancel.onclick = () => running?.cancel();
    reset.onclick = () => {
      running?.cancel();
      fill(Object.fromEntries(about.fields.map(f => [f.name, f.start])));
      line.textContent = "";
      line.classList.remove("bad");
    };
    form.append(make("div", {className: "buttons"}, run, cancel, reset, beside, here), bar, line);
    const folded = make("details", {className: "form"},
      make("summary", {textContent: `Run this model here, with values of your own: ${about.experiment}`}),
      ...(about.note ? [make("p", {textContent: about.note})] : []),
      form, drawn, totals, counters, commands);
    // What the form shows runs as soon as a reader turns to it: a first click on Run takes that run,
    // where the values are still the same.
    const look = () => {
      if (looked || running || complaint(about, typed())) return;
      looked = true;
      ahead = begin(typed());
      ahead.ran.catch(() => {});
    };
    folded.ontoggle = () => folded.open && look();
    folded.firstChild.onpointerenter = folded.firstChild.onfocus = look;
    place.append(folded);
    place.onkeydown = event => event.stopPropagation();  // which a deck takes for a turn of its slides
    const asked = linked(about, location.search);
    fill(asked || Object.fromEntries(about.fields.map(f => [f.name, f.start])));
    if (asked) {
      folded.open = true;
      place.scrollIntoView();
      go();
    }
  };

  const all = () => document.querySelectorAll(".lorelab-panel").forEach(build);
  Object.assign(lorelabPanel, {complaint, command, spec, sums});
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", all) : all();
})();
