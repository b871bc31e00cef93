// Completes the bundle of the console: a style sheet, the page that loads it, and a table of all files for the server.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const hashOf = (/** @type {string} */ text) => createHash('sha256').update(text).digest('base64url').slice(0, 16);

const compressed = (/** @type {string} */ text) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });

/** The most bytes of all files, compressed. */
const maxBytes = 600_000;

/**
 * A plugin that replaces each file of the bundle by its compressed form, and adds the page, the style sheet, and `files.json`:
 * the media type and the hash of each file, by its name. Fails when the files are too large.
 * @param {{ page: string, icon: string, styles: string[] }} sources `page` has `{script}`, `{styles}` and `{icon}` for the names of these files
 * @returns {import('rolldown').Plugin}
 */
export const pageFiles = ({ page, icon, styles }) => ({
  name: 'page-files',
  generateBundle(_, bundle) {
    /** @type {{ [name: string]: { type: string, hash: string, hashed: boolean } }} */
    const table = {};
    let bytes = 0;
    const add = (/** @type {string} */ name, /** @type {string} */ text, hashed = true) => {
      const type = types[/** @type {keyof typeof types} */ (name.slice(name.lastIndexOf('.') + 1))];
      table[name] = { type, hash: hashOf(text), hashed };
      const source = compressed(text);
      bytes += source.length;
      this.emitFile({ type: 'asset', fileName: `${name}.br`, source });
    };
    let script = '';
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      const missing = [...file.imports, ...file.dynamicImports].find((name) => !(name in bundle) && !(name in table));
      if (missing !== undefined) this.error(`${file.fileName} imports ${missing}, which browsers do not have`);
      if (file.isEntry) script = file.fileName;
      delete bundle[file.fileName];
      add(file.fileName, file.code);
    }
    const addHashed = (/** @type {string} */ text, /** @type {string} */ extension) => {
      const name = `console-${hashOf(text)}.${extension}`;
      add(name, text);
      return name;
    };
    /** @type {{ [name: string]: string }} */
    const names = {
      script,
      styles: addHashed(styles.map((path) => readFileSync(path, 'utf8')).join('\n'), 'css'),
      icon: addHashed(readFileSync(icon, 'utf8'), 'svg'),
    };
    const html = readFileSync(page, 'utf8').replace(/\{(script|styles|icon)\}/g, (_, name) => names[name] ?? '');
    add('index.html', html, false);
    if (bytes > maxBytes) this.error(`the page has ${bytes} bytes, compressed: more than ${maxBytes}`);
    this.emitFile({ type: 'asset', fileName: 'files.json', source: JSON.stringify(table) });
  },
});
