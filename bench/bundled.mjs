import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The exports of a module of the sources. @param {string} path @returns {Promise<any>} */
export async function bundled(path) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bundled-'));
  try {
    const file = join(folder, 'module.mjs');
    await build({ input: join(root, path), platform: 'node', logLevel: 'silent', output: { file } });
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
