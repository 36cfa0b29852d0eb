// Calls of the engine under Node.js: node engine.mjs BUILD <CALLS >ANSWERS
// CALLS: a JSON list of {words, files}, files being names in the working folder; ANSWERS: a list of what it said.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2]);
const make = createRequire(import.meta.url)(join(folder, 'tools/web/engine.js'));
const engine = await make({ wasmBinary: readFileSync(join(folder, 'engine.wasm')) });
const utf8 = new TextEncoder();

function copied(bytes) {
  const at = engine._malloc(bytes.length + 1);
  engine.HEAPU8.set(bytes, at);
  engine.HEAPU8[at + bytes.length] = 0;
  return at;
}

const answers = JSON.parse(readFileSync(0, 'utf8')).map(({ words, files }) => {
  for (const name of files) {
    const bytes = readFileSync(name);
    engine._slicewise_give(copied(utf8.encode(name)), copied(bytes), bytes.length);
  }
  const at = engine._slicewise_run(copied(utf8.encode(JSON.stringify(words))), true);
  const memory = engine.HEAPU8;
  return JSON.parse(new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at))));
});
process.stdout.write(JSON.stringify(answers));
