// In the worker, after the glue of Emscripten: one call at a time, files in and out by value.
'use strict';

let engine;

async function load(module) {
  engine = await slicewiseEngine({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
    // The program prints nothing but by value; what libraries say is no answer.
    print() {},
    printErr() {},
  });
  engine.progress = (done, total, unit) => postMessage({ done, total, unit });
}

const utf8 = new TextEncoder();

// Memory of the engine with these bytes and a zero behind them; to be freed.
function copied(bytes) {
  const at = engine._malloc(bytes.length + 1);
  engine.HEAPU8.set(bytes, at);
  engine.HEAPU8[at + bytes.length] = 0;
  return at;
}

function textAt(at) {
  const bytes = engine.HEAPU8;
  return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
}

function answer(words, files, rendersAll) {
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === 'string' ? utf8.encode(content) : content;
    const [path, text] = [copied(utf8.encode(name)), copied(bytes)];
    engine._slicewise_give(path, text, bytes.length);
    engine._free(path);
    engine._free(text);
  }
  const request = copied(utf8.encode(JSON.stringify(words)));
  const said = engine._slicewise_run(request, rendersAll);
  engine._free(request);
  return JSON.parse(textAt(said));
}

onmessage = async ({ data }) => {
  try {
    if (data.module) await load(data.module);
    else postMessage({ answer: answer(data.words, data.files, data.rendersAll) });
    if (data.module) postMessage({ ready: true });
  } catch (problem) {
    postMessage({ failed: String(problem) });
  }
};
