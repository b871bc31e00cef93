// A thread that reads YAML documents, one after another, for ./yaml-thread.ts.
import { parentPort } from 'node:worker_threads';
import { parseYaml, stringifyJson } from '../../codec/index.ts';
import { StatusError } from '../../meta/index.ts';
import type { YamlAnswer } from './yaml-thread.ts';

function answer(bytes: Uint8Array): YamlAnswer {
  try {
    const { value, findings } = parseYaml(bytes);
    return { json: stringifyJson(value), findings };
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return { fault: error.message };
    throw error;
  }
}

// Whatever is loaded on first use is loaded before the first document comes.
answer(Buffer.from('a: 1'));
parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(answer(bytes)));
parentPort?.postMessage('ready');
