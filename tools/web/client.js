// The engine for a page: packed and program (the worker's source) are put before this by assemble.
// Everything runs in a worker, so that the page never waits; another call may stop one by ending it.
'use strict';

class Slicewise {
  static #module;  // compiled once

  static async #compiled() {
    const bytes = Uint8Array.from(atob(Slicewise.packed), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  }

  #worker;
  #ready;
  #waiting;  // of the call under way: resolve, reject, progress
  #last;     // settled when the call before has ended

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
        this.#worker.postMessage({ words, files });
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
