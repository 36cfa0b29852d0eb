// Puts the engine into one file of JavaScript, and that into one page:
//   node assemble.mjs BUILD    of BUILD/engine.wasm, the same as .zst, BUILD/tools/web/engine.js and unpack.wasm:
//                              BUILD/slicewise-engine.js and BUILD/slicewise.html
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const tree = join(here, '../..');
const [build] = process.argv.slice(2);
const read = (...path) => readFileSync(join(...path), 'utf8');

// As it may stand in a script element.
const literal = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

// As text in a literal in quotes: two letters of 91 hold 13 bits, and base64 would take a twelfth more.
const letters = Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n))
  .filter((letter) => !"'\\<".includes(letter)).join('');
function inLetters(bytes) {
  const text = Buffer.alloc(2 * Math.ceil(8 * bytes.length / 13));
  let [at, held, bits] = [0, 0, 0];
  const write = () => {
    for (const digit of [held % 8192 % letters.length, Math.floor(held % 8192 / letters.length)]) {
      text[at++] = letters.charCodeAt(digit);
    }
  };
  for (const byte of bytes) {
    held |= byte << bits;
    bits += 8;
    if (bits < 13) continue;
    write();
    held >>>= 13;
    bits -= 13;
  }
  if (bits > 0) write();
  return text.toString('latin1');
}

const packed = (...path) => {
  const bytes = readFileSync(join(build, ...path));
  return `{ size: ${bytes.length}, letters: '${inLetters(bytes)}' }`;
};
const program = read(build, 'tools/web/engine.js') + '\n' + read(here, 'worker.js');
const [, version] = read(tree, 'CMakeLists.txt').match(/project\(slicewise VERSION (\S+)/);
const engine = `// slicewise ${version}\n` + read(here, 'client.js') +
  `Slicewise.program = ${literal(program)};\nSlicewise.letters = '${letters}';\n` +
  `Slicewise.size = ${statSync(join(build, 'engine.wasm')).size};\n` +
  `Slicewise.unpack = ${packed('tools/web/unpack.wasm')};\n` +
  `Slicewise.packed = ${packed('engine.wasm.zst')};\n`;
writeFileSync(join(build, 'slicewise-engine.js'), engine);

// Examples that stand alone.
const folder = join(tree, 'scenarios/examples');
const examples = Object.fromEntries(readdirSync(folder)
  .filter((name) => name.endsWith('.yaml')).sort()
  .map((name) => [name, read(folder, name)])
  .filter(([, text]) => !/^[^#\n]*\b(path|file|trace|manifest): *[\w./-]+\.\w+/m.test(text)));
const parts = {
  style: read(here, 'page.css'),
  engine,
  script: `const examples = ${literal(examples)};\n` + read(here, 'page.js'),
};
const page = read(here, 'page.html').replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
writeFileSync(join(build, 'slicewise.html'), page);
console.log(`${join(build, 'slicewise.html')}: ${(page.length / 1e6).toFixed(2)} MB`);
