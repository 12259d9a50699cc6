// A form for each .lorelab-panel of the page, and a worker that runs its model. What differs from one
// experiment to another is in the JSON that the page carries: lorelab/panel/show.py writes it.
(() => {
  const PAGE = 65536, STACK = 1 << 20, MOST = 16384;  // the last in pages: 1 GiB
  const KEPT = 6;  // runs in a chart: more lines nobody tells apart

  // Runs in the worker, on its own. Gives [kind, ...] by postMessage.
  const work = () => {
    onmessage = async ({data: {module, values, page, stack, most}}) => {
      const wants = WebAssembly.Module.imports(module);
      const memory = new WebAssembly.Memory({initial: 64, maximum: most});
      // From 0: the module's data, below 1 MiB; stack; call and parameters; what is allocated.
      const call = page * 16 + stack;
      let top = call + page, tooMuch = false, last = 0;
      const allocate = (size, align) => {
        const at = Math.ceil(top / align) * align, end = at + size;
        const short = Math.ceil((end - memory.buffer.byteLength) / page);
        try {
          if (!(end < most * page)) throw new RangeError();
          if (short > 0) memory.grow(short);
        } catch {
          tooMuch = true;
          return 0;
        }
        top = end;
        return at;
      };
      // numba's meminfo: references, destructor and its argument, data, size, allocator.
      const counted = (size, align) => {
        const at = allocate(40, 8), data = at && allocate(Number(size), Math.max(align, 16));
        if (!data) return 0;
        const view = new DataView(memory.buffer);
        view.setBigUint64(at, 1n, true);
        view.setUint32(at + 16, data, true);
        view.setBigUint64(at + 24, BigInt(size), true);
        return at;
      };
      const env = {
        __linear_memory: memory,
        __stack_pointer: new WebAssembly.Global({value: "i32", mutable: true}, call),
        NRT_MemInfo_alloc_aligned: counted,
        NRT_MemInfo_alloc_safe_aligned: counted,
        NRT_MemInfo_alloc: size => counted(size, 16),
        NRT_MemInfo_alloc_safe: size => counted(size, 16),
        NRT_MemInfo_call_dtor: () => {},
        NRT_Allocate: size => allocate(Number(size), 16),
        NRT_Free: () => {},
        // What numba writes the text of an exception with, which nobody reads here.
        PyErr_SetString: () => {},
        log10: Math.log10,
        // Of the chance of a random access, which no panel asks for: its last bit may differ.
        pow: Math.pow,
        lorelab_full: () => { tooMuch = true; },
        lorelab_progress: (done, whole) => {
          if (Date.now() - last < 100) return;
          last = Date.now();
          postMessage(["progress", Number(done), Number(whole)]);
        },
      };
      for (const {name, kind} of wants)
        if (kind === "table") env[name] = new WebAssembly.Table({initial: 4096, element: "anyfunc"});
      const {exports} = await WebAssembly.instantiate(module, {env});
      const parameters = new DataView(memory.buffer, call + 1024);
      values.forEach(([kind, value], n) => kind === "float"
        ? parameters.setFloat64(8 * n, value, true)
        : parameters.setBigInt64(8 * n, BigInt.asIntN(64, value), true));
      const started = performance.now();
      const status = exports.entry(call, call + 512, call + 1024);
      if (status) return postMessage(["error", tooMuch ? "memory" : "status"]);
      // An array: meminfo, parent, items, item size, data, shape, strides.
      const view = new DataView(memory.buffer);
      const [rows, columns] = [32, 40].map(at => Number(view.getBigUint64(call + at, true)));
      const at = view.getUint32(call + 24, true);
      postMessage(["done", memory.buffer.slice(at, at + 8 * rows * columns), columns,
                   performance.now() - started]);
    };
    addEventListener("unhandledrejection", event => {
      event.preventDefault();  // it is told below, once
      postMessage(["error", String(event.reason)]);
    });
  };

  const make = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
  };
  // What the library reads as a number: 1_000 as well, and of a float inf and nan.
  const whole = /^[+-]?\d+(_\d+)*(\.0+)?$/;
  const decimal = /^[+-]?((\d+(_\d+)*\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$/i;
  const list = text => text ? text.split(",") : [];
  const integer = text => BigInt(text.replace(/\..*|^\+|_/g, ""));
  const real = text => Number(text.replace(/_/g, "").replace(/inf.*/i, "Infinity"));

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
  // As compiled code has them.
  const numbers = (about, typed) => about.fields.flatMap(field => {
    const text = typed[field.name];
    if (field.kind === "list")
      return Array.from({length: field.most}, (_, n) => ["int", BigInt(list(text)[n] ?? 0)]);
    if (field.values) return [["int", BigInt(field.values.find(([word]) => word === text)[1])]];
    return field.kind === "float" ? [["float", real(text)]]
      : [["int", integer(text)]];
  });
  const changed = (about, typed, from = "default") =>
    about.fields.filter(field => typed[field.name] !== field[from]);
  const quoted = text => /^[\w.,:/=+-]*$/.test(text) ? text : `"${text}"`;
  const command = (about, typed) => `lorelab model ${about.experiment}` + changed(about, typed)
    .map(field => ` -p ${quoted(`${field.name}=${typed[field.name]}`)}`).join("");

  // A number as Python prints it.
  const printed = number => {
    if (typeof number === "bigint") return `${number}`;
    const size = Math.abs(number);
    if (size && (size < 1e-4 || size >= 1e16))
      return number.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
    return Number.isInteger(number) ? `${number}.0` : `${number}`;
  };
  // Rows of a kind other than 0 are for the chart alone.
  const counted = ({about, rows}) => {
    const kind = about.more.indexOf("kind");
    return kind < 0 ? rows : rows.filter(row => !row[about.counters.length + kind]);
  };
  // Counters as `lorelab model` prints them.
  const HEAD = "design,experiment,variant,source,step,counter,unit,value";
  const csv = run => {
    const [design, experiment] = run.about.experiment.split("/");
    const lines = run.about.counters.flatMap(([counter, unit], column) => {
      const [parameter, value] = run.about.without[counter] ?? [];
      if (parameter && run.typed[parameter] === value) return [];
      return counted(run).map((row, n) => [design, experiment, run.variant, "model",
        n + run.about.first, counter, unit, printed(row[column])].join(","));
    });
    return [HEAD, ...lines, ""].join("\n");
  };
  const table = (about, buffer, columns) => {
    const all = about.numbers === "float64" ? new Float64Array(buffer)
      : about.numbers === "int64" ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
    const rows = [];
    for (let at = 0; at < all.length; at += columns) rows.push([...all.subarray(at, at + columns)]);
    return rows;
  };

  // Compiled once, by the page: with a worker's own module would go the code that the browser
  // optimised while it ran.
  const modules = {};
  const compiled = packed => modules[packed] ??= (async () => {
    const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  })();

  // A run: a promise of its counters, and how to end it.
  const start = (about, typed, told) => {
    const source = URL.createObjectURL(new Blob([`(${work})()`], {type: "text/javascript"}));
    const worker = new Worker(source);
    let end;
    const ran = new Promise((done, failed) => {
      end = failed;
      worker.onerror = event => failed(new Error(`the run died: ${event.message || "no reason given"}`));
      worker.onmessage = ({data: [kind, ...rest]}) => {
        if (kind === "progress") told(...rest);
        else if (kind === "error") failed(new Error({
          memory: "out of memory: these values take more than the 1 GiB that a panel has; " +
            "the command below has no such limit",
          status: "these values do not go together; the command below says why",
        }[rest[0]] || `the run died: ${rest[0]}`));
        else {
          const [buffer, columns, took] = rest;
          const rows = table(about, buffer, columns);
          done({about, typed, rows, took, variant: typed[about.variant] ?? about.variant});
        }
      };
      const values = numbers(about, typed);
      compiled(about.module)
        .then(module => worker.postMessage({module, values, page: PAGE, stack: STACK, most: MOST}))
        .catch(error => failed(new Error(`the run died: ${error}`)));
    }).finally(() => { worker.terminate(); URL.revokeObjectURL(source); });
    return {ran, cancel: () => end(new Error("cancelled"))};
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
    let running = null, ahead = null;
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
    const copied = (name, text) => {
      const box = make("textarea", {readOnly: true, rows: 6, spellcheck: false, wrap: "off"});
      box.setAttribute("aria-label", name);
      const button = make("button", {type: "button", textContent: "Copy"});
      button.onclick = async () => {
        box.select();
        try { await navigator.clipboard.writeText(box.value); } catch { document.execCommand("copy"); }
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      };
      return [make("details", {}, make("summary", {textContent: name}), box, button),
              value => { box.value = value; }];
    };
    const [counters, tell] = copied("Counters, as CSV", "");
    const [commands, say_] = copied("The same as a command", "");
    const here = make("a", {textContent: "Link to these values"});
    const say = () => {
      say_(command(about, typed()));
      here.href = link(about, typed(), place.id);
    };
    counters.hidden = true;
    const busy = on => {
      run.disabled = on;
      cancel.disabled = !on;
      bar.hidden = true;
      bar.removeAttribute("value");
    };
    const go = async () => {
      if (running) return;
      const values = typed(), refuses = complaint(about, values);
      line.classList.toggle("bad", !!refuses);
      line.textContent = refuses || "running";
      if (refuses) return;
      ahead?.cancel();
      busy(true);
      // Some models say nothing of how far they are: their bar only moves.
      const moving = setTimeout(() => { bar.hidden = false; }, 1000);
      running = start(about, values, (done, of) => {
        bar.hidden = false;
        bar.value = done / of;
        line.textContent = `running: ${done} of ${of}`;
      });
      try {
        const ran = await running.ran;
        if (!keep.checked) runs.length = 0;
        runs.push(ran);
        if (runs.length > KEPT) runs.shift();
        tell(csv(ran));
        counters.hidden = false;
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
      form, drawn, counters, commands);
    // Once as soon as it is open, and its counters for nobody: what the browser optimises meanwhile the
    // first run has. That takes longer than the run itself.
    folded.ontoggle = () => {
      if (!folded.open || ahead || running || complaint(about, typed())) return;
      ahead = start(about, typed(), () => {});
      ahead.ran.catch(() => {});
    };
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
  window.lorelabPanel = {complaint, start, csv, spec};
  document.readyState === "loading" ? addEventListener("DOMContentLoaded", all) : all();
})();
