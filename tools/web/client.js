// The engine for a page. Put behind this by assemble: `packed` and `unpack` (the modules of the engine, by zstd, and of
// what unpacks it, in `letters`), `size` of the engine, `program` (the worker's source).
// Everything runs in a worker, so that the page never waits; another call may stop one by ending it.
'use strict';

class Slicewise {
  static #module;  // compiled once

  // Two letters hold 13 bits, the lowest first.
  static #bytes({ size, letters: packed }) {
    const { letters } = Slicewise;
    const bytes = new Uint8Array(size);
    const value = new Uint8Array(128);
    for (let n = 0; n < letters.length; ++n) value[letters.charCodeAt(n)] = n;
    let [at, held, bits] = [0, 0, 0];
    for (let n = 0; n < packed.length; n += 2) {
      held |= (value[packed.charCodeAt(n)] + letters.length * value[packed.charCodeAt(n + 1)]) << bits;
      for (bits += 13; bits >= 8; bits -= 8) {
        bytes[at++] = held;
        held >>>= 8;
      }
    }
    return bytes;
  }

  static async #compiled() {
    const packed = Slicewise.#bytes(Slicewise.packed);
    const { instance } = await WebAssembly.instantiate(Slicewise.#bytes(Slicewise.unpack), {});
    const { memory, malloc, unpack } = instance.exports;
    const [from, to] = [malloc(packed.length), malloc(Slicewise.size)];
    new Uint8Array(memory.buffer).set(packed, from);
    if (unpack(to, Slicewise.size, from, packed.length) !== Slicewise.size) throw new Error('the engine is damaged');
    return WebAssembly.compile(new Uint8Array(memory.buffer, to, Slicewise.size));
  }

  #rendersAll;
  #worker;
  #ready;
  #waiting;  // of the call under way: resolve, reject, progress
  #last;     // settled when the call before has ended

  // `rendersAll`: a report comes in all its formats and with all its charts; else `run` draws latencies only,
  // which is sooner.
  constructor({ rendersAll = true } = {}) {
    this.#rendersAll = rendersAll;
  }

  start() {
    Slicewise.#module ??= Slicewise.#compiled();
    const source = URL.createObjectURL(new Blob([Slicewise.program], { type: 'text/javascript' }));
    this.#worker = new Worker(source);
    URL.revokeObjectURL(source);
    this.#ready = new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.#worker.onmessage = ({ data }) => this.#told(data);
    this.#worker.onerror = (event) => this.#waiting?.reject(new Error(event.message));
    Slicewise.#module.then((module) => this.#worker?.postMessage({ module }),
      (problem) => this.#waiting?.reject(problem));
    return this.#ready;
  }

  #told(data) {
    if (data.unit) return this.#waiting?.progress?.(data);
    const { resolve, reject } = this.#waiting;
    this.#waiting = undefined;
    if ('failed' in data) reject(new Error(data.failed));
    else resolve(data.answer);
  }

  // What a verb answers: exitCode (or bug), files by path ("": standard output), renderings, errors.
  // `files`: texts or bytes by the names that the words have for them. Calls wait for each other.
  async call(words, files = {}, progress = undefined) {
    const before = this.#last;
    let done;
    this.#last = new Promise((resolve) => { done = resolve; });
    await before;
    try {
      if (!this.#worker) this.start();
      await this.#ready;
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject, progress };
        this.#worker.postMessage({ words, files, rendersAll: this.#rendersAll });
      });
    } finally {
      done();
    }
  }

  // Ends the call under way; the next one starts anew.
  stop() {
    if (!this.#waiting) return;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#waiting.reject(new DOMException('stopped', 'AbortError'));
    this.#waiting = undefined;
  }
}
