// A run of a compiled model in a worker of its own: parameters into it, counters out of it.
(() => {
  const PAGE = 65536, STACK = 1 << 20, MOST = 16384;  // the last in pages: 1 GiB

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

  // What is typed as a number, which form.js has checked.
  const list = text => text ? text.split(",") : [];
  const integer = text => BigInt(text.replace(/\..*|^\+|_/g, ""));
  const real = text => Number(text.replace(/_/g, "").replace(/inf.*/i, "Infinity"));

  // As compiled code has them.
  const numbers = (about, typed) => about.fields.flatMap(field => {
    const text = typed[field.name];
    if (field.kind === "list")
      return Array.from({length: field.most}, (_, n) => ["int", BigInt(list(text)[n] ?? 0)]);
    if (field.values) return [["int", BigInt(field.values.find(([word]) => word === text)[1])]];
    return field.kind === "float" ? [["float", real(text)]]
      : [["int", integer(text)]];
  });

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

  window.lorelabPanel = {start, counted, csv, printed, list, integer, real};
})();
