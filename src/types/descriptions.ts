import { existsSync, readFileSync } from 'node:fs';

/**
 * What types, fields and table columns mean, for `explain`, OpenAPI and tables. The texts are in `descriptions/`, one file
 * for each package of types, which is read when one of its texts is first asked for:
 *
 *     "JobSpec": { "": "of the type", "parallelism": "of a field" },
 *     "v1beta1.JobSpec": { "parallelism": "where a version differs" },
 *     "jobs": { "Completions": "of a column" }
 *
 * Texts have the placeholders of `expandNames`.
 */
type Texts = { readonly [of: string]: { readonly [field: string]: string } };

const files = new Map<string, Texts>();

/** The fields that every object and list has. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

/** Returns the description of a built-in type such as `batch/v1.JobSpec`, or of one of its fields. */
export function describe(typeName: string, field = ''): string | undefined {
  const [home = '', rest = ''] = typeName.split('/', 2);
  const texts = textsOf(home);
  const type = rest.slice(rest.indexOf('.') + 1);
  const text = textIn(texts, rest, field) ?? textIn(texts, type, field);
  return text ?? (common.has(field) ? textIn(textsOf('meta'), 'TypeMeta', field) : undefined);
}

/** Returns the description of a table column of a resource; `home` as in the names of its types. */
export const describeColumn = (home: string, plural: string, column: string): string | undefined =>
  textIn(textsOf(home), plural, column);

const textIn = (texts: Texts, of: string, field: string): string | undefined =>
  Object.hasOwn(texts, of) && Object.hasOwn(texts[of] ?? {}, field) ? texts[of]?.[field] : undefined;

function textsOf(home: string): Texts {
  let texts = files.get(home);
  if (texts === undefined) {
    texts = read(home);
    files.set(home, texts);
  }
  return texts;
}

/** The packages that have the texts of a package: the types of `extensions` are in other groups now. */
const moved: { readonly [home: string]: readonly string[] } = {
  extensions: ['networking', 'apps', 'policy', 'extensions'],
};

const read = (home: string): Texts => mergeTexts((moved[home] ?? [home]).map(readFile));

function mergeTexts(all: readonly Texts[]): Texts {
  const merged: { [of: string]: { [field: string]: string } } = {};
  for (const [of, fields] of all.flatMap((texts) => Object.entries(texts))) merged[of] = { ...merged[of], ...fields };
  return merged;
}

/** Custom groups have no file. */
function readFile(home: string): Texts {
  const file = new URL(`./descriptions/${home}.json`, import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Texts) : {};
}
