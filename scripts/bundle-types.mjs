// Bundles the declarations of each entry of the package into one file: its exports and what they depend on. `orch/client`
// stands alone; the other entries import from it what it exports. Consumers need no types of Node or of other packages.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/**
 * @typedef {{ file: string, name: string }} Place a name in a module
 * @typedef {{ text: string, at: number, node: Node }} Declaration with the comment before it; where the text starts
 * @typedef {{ declarations: Map<string, Declaration>, names: Map<string, Place> }} Module with what it imports or exports
 * @typedef {any} Node of the parser's tree
 */

/** @type {Map<string, Module>} */
const modules = new Map();

/** @type {(place: Place) => { place: Place, declaration: Declaration } | undefined} Undefined: the name is global. */
function find(place) {
  if (!isAbsolute(place.file))
    throw new Error(`programs would see ${place.name} of ${place.file}, which they may not have`);
  const module = modules.get(place.file) ?? readModule(place.file);
  modules.set(place.file, module);
  const declaration = module.declarations.get(place.name);
  if (declaration !== undefined) return { place, declaration };
  const next = module.names.get(place.name);
  return next && find(next);
}

/**
 * @param {string} entry a file of declarations as the compiler writes it
 * @param {{ [specifier: string]: string }} [others] entries to import from: the files of their declarations
 * @returns {string} a file with the same exports
 */
function bundleTypes(entry, others = {}) {
  /** @type {Map<Declaration | undefined, { name: string, specifier: string }>} The exports of the other entries. */
  const exportedByOthers = new Map();
  for (const [specifier, file] of Object.entries(others)) {
    for (const name of exportsOf(file)) exportedByOthers.set(find({ file, name })?.declaration, { name, specifier });
  }
  /** @type {Map<string, Set<string>>} The imported names by specifier. */
  const imported = new Map();
  /** @type {Map<Declaration, string>} */
  const included = new Map();
  /** @type {string[]} */
  const texts = [];
  /** @type {(place: Place) => string} The name under which the bundle has it. */
  const include = (from) => {
    const found = find(from);
    if (found === undefined) return from.name;
    const { place, declaration } = found;
    const known = included.get(declaration);
    if (known !== undefined) return known;
    const other = exportedByOthers.get(declaration);
    if (other !== undefined) {
      included.set(declaration, other.name);
      imported.set(other.specifier, (imported.get(other.specifier) ?? new Set()).add(other.name));
      return other.name;
    }
    const same = [...included.values()].filter((name) => name.split('$')[0] === place.name).length;
    const name = same === 0 ? place.name : `${place.name}$${same}`;
    included.set(declaration, name);
    texts.push(rewrite(place.file, declaration, name, include));
    return name;
  };
  const exported = exportsOf(entry).map((name) => {
    const own = include({ file: entry, name });
    return own === name ? name : `${own} as ${name}`;
  });
  const imports = [...imported].map(
    ([specifier, names]) => `import { ${[...names].sort().join(', ')} } from '${specifier}';\n`,
  );
  return `${imports.join('')}${texts.join('\n')}\nexport { ${exported.join(', ')} };\n`;
}

/** @type {(file: string, declaration: Declaration, name: string, include: (place: Place) => string) => string} */
function rewrite(file, { text, at, node }, name, include) {
  const edits = [{ node: nameOf(node), to: name }];
  for (const reference of references(node)) {
    const place =
      reference.type === 'TSImportType'
        ? placeOf(file, reference.source.value, reference.qualifier.name)
        : { file, name: reference.name };
    edits.push({ node: reference, to: include(place) });
  }
  let out = '';
  let done = 0;
  for (const { node: old, to } of edits.sort((a, b) => a.node.start - b.node.start)) {
    out += text.slice(done, old.start - at) + to;
    // The range of a name that is declared goes on over its type.
    done = (old.qualifier?.end ?? old.start + old.name.length) - at;
  }
  return out + text.slice(done);
}

/** @type {(node: Node) => Node} */
const nameOf = (node) => node.id ?? node.declarations[0].id;

/** @type {(node: Node) => Node[]} Where a declaration names others: identifiers, and types that are imported on the spot. */
function references(node) {
  if (Array.isArray(node)) return node.flatMap(references);
  if (typeof node !== 'object' || node === null) return [];
  const own = [node.typeName, node.exprName, node.superClass];
  if (node.type === 'TSInterfaceHeritage' || node.type === 'TSClassImplements') own.push(node.expression);
  if (node.type === 'TSImportType') own.push(node);
  if (node.computed === true) own.push(node.key);
  return [...new Set([...own.flatMap(leftmost), ...Object.values(node).flatMap(references)])];
}

/** @type {(node: Node) => Node[]} `A` of `A.B.C`. */
function leftmost(node) {
  if (node?.type === 'TSQualifiedName') return leftmost(node.left);
  if (node?.type === 'MemberExpression') return leftmost(node.object);
  return node?.type === 'Identifier' || node?.type === 'TSImportType' ? [node] : [];
}

/** @type {(file: string, module: string, name: string) => Place} */
function placeOf(file, module, name) {
  return { file: module.startsWith('.') ? resolve(dirname(file), module).replace(/\.ts$/, '.d.ts') : module, name };
}

/** @type {(file: string) => Node[]} */
const statementsOf = (file) => parseAst(readFileSync(file, 'utf8'), { lang: 'dts' }, file).body;

/** @type {(file: string) => string[]} */
const exportsOf = (file) =>
  statementsOf(file)
    .filter(({ type }) => type === 'ExportNamedDeclaration')
    .flatMap(({ specifiers }) => specifiers.map((/** @type {Node} */ { exported }) => exported.name));

/** @type {(file: string) => Module} */
function readModule(file) {
  const source = readFileSync(file, 'utf8');
  /** @type {Module} */
  const module = { declarations: new Map(), names: new Map() };
  let end = 0;
  for (const statement of statementsOf(file)) {
    for (const { imported, exported, local } of statement.specifiers ?? []) {
      const from = statement.source?.value;
      const name = imported?.name ?? local.name;
      const place = from === undefined ? { file, name } : placeOf(file, from, name);
      const known = (exported ?? local).name;
      if (place.file !== file || place.name !== known) module.names.set(known, place);
    }
    const node = statement.declaration ?? statement;
    if (node.id !== undefined || node.declarations !== undefined) {
      const text = source.slice(end, statement.start).trimStart() + source.slice(node.start, statement.end);
      module.declarations.set(nameOf(node).name, { text, at: statement.end - text.length, node });
    }
    end = statement.end;
  }
  return module;
}

const dist = join(dirname(import.meta.dirname), 'dist');
const main = join(dist, 'types', 'server', 'index.d.ts');
const client = join(dist, 'types', 'client', 'library.d.ts');
const testing = join(dist, 'types', 'server', 'harness', 'index.d.ts');
const entries = {
  client: bundleTypes(client),
  index: bundleTypes(main, { 'orch/client': client }),
  testing: bundleTypes(testing, { orch: main, 'orch/client': client }),
};
for (const [name, types] of Object.entries(entries)) {
  // The same declarations for ESM and CommonJS consumers.
  for (const suffix of ['d.ts', 'd.cts']) writeFileSync(join(dist, 'server', `${name}.${suffix}`), types);
}
rmSync(join(dist, 'types'), { recursive: true });
