/** The output formats of `-o`. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { text, toggle, type ValuesOf } from '../flags/flag.ts';
import { withoutManagedFields } from '../objects/comparable.ts';
import { CustomColumnsPrinter, columnsOfFile, columnsOfSpec } from './custom-columns.ts';
import { indentedJson, jsonText } from './json.ts';
import { jsonPath } from './jsonpath/evaluate.ts';
import { TemplateError } from './jsonpath/parse.ts';
import { goTemplate } from './template/evaluate.ts';
import { foldedYaml } from './yaml.ts';

const structured = [
  'json',
  'yaml',
  'name',
  'go-template',
  'go-template-file',
  'template',
  'templatefile',
  'jsonpath',
  'jsonpath-as-json',
  'jsonpath-file',
];

/** The flags of commands that print objects. */
export const outputFlags = {
  output: text('', `Output format. One of: (${structured.join(', ')}).`, { short: 'o' }),
  template: text('', 'Template string, or path to a template file, to use when -o=go-template or -o=go-template-file.'),
  allowMissingTemplateKeys: toggle(
    true,
    'If true, ignore any errors in templates when a field or map key is missing in the template.',
  ),
  showManagedFields: toggle(false, 'If true, keep the managedFields when printing objects in JSON or YAML format.'),
};

/** The formats of `get`, which has tables too. */
export const getFormats = [...structured, 'custom-columns', 'custom-columns-file', 'wide'];

type OutputValues = ValuesOf<typeof outputFlags>;

/** Prints objects in one format. */
export interface Printer {
  print(object: JsonObject): void;
  /** Writes what waits for the widths of columns. */
  flush(): void;
}

export interface PrinterOptions {
  readonly write: (text: string) => unknown;
  /** The folder that files of templates are relative to. */
  readonly folder: string;
  /** The word after the name in `-o name`: `created`. */
  readonly operation?: string;
  readonly noHeaders?: boolean;
  /** The formats that the command allows; by default those without tables. */
  readonly formats?: readonly string[];
}

/** The printer of a format; undefined for the default format and for `wide`. @throws CommandError */
export async function printerOf(values: OutputValues, options: PrinterOptions): Promise<Printer | undefined> {
  const { output } = values;
  const { formats = structured } = options;
  if (output === '' || output === 'wide') {
    if (output === '' || formats.includes('wide')) return undefined;
  }
  const [, format = '', argument] = /^([^=]*)(?:=([\s\S]*))?$/.exec(output) ?? [];
  const print = formats.includes(format) ? await printFunction(format, argument, values, options) : undefined;
  if (print === undefined) {
    const allowed = formats.toSorted().join(',');
    throw new CommandError(
      `unable to match a printer suitable for the output format ${JSON.stringify(output)}, allowed formats are: ${allowed}`,
    );
  }
  return typeof print === 'function' ? { print, flush: () => {} } : print;
}

type Print = (object: JsonObject) => void;

async function printFunction(
  format: string,
  argument: string | undefined,
  values: OutputValues,
  options: PrinterOptions,
): Promise<Print | Printer | undefined> {
  const { write, folder, noHeaders = false } = options;
  const shown = (object: JsonObject) => (values.showManagedFields ? object : withoutManagedFieldsInItems(object));
  const given = argument ?? values.template;
  const file = async () => (given === '' ? '' : await readTemplate(folder, given));
  switch (format) {
    case 'json':
      return (object) => write(`${indentedJson(shown(object))}\n`);
    case 'yaml': {
      let before = '';
      return (object) => {
        write(before + foldedYaml(shown(object)));
        before = '---\n';
      };
    }
    case 'name':
      return (object) =>
        write(
          namesOf(object)
            .map((name) => `${name}\n`)
            .join(''),
        );
    case 'jsonpath':
      return jsonPathPrint(given, values, write);
    case 'jsonpath-file':
      return jsonPathPrint(await file(), values, write);
    case 'jsonpath-as-json': {
      const path = parsedPath(given, values);
      return (object) => write(`${indentedJson(executed(given, () => path.values(object)))}\n`);
    }
    case 'custom-columns':
      return new CustomColumnsPrinter(columnsOfSpec(argument ?? ''), noHeaders, write);
    case 'custom-columns-file':
      return new CustomColumnsPrinter(columnsOfFile(await file()), noHeaders, write);
    case 'go-template':
    case 'template':
      return templatePrint(given, write);
    case 'go-template-file':
    case 'templatefile':
      return templatePrint(await file(), write);
    default:
      return undefined;
  }
}

async function readTemplate(folder: string, path: string): Promise<string> {
  try {
    return await readFile(resolve(folder, path), 'utf8');
  } catch (cause) {
    throw new CommandError(`error reading --template ${path}, open ${path}: no such file or directory`, { cause });
  }
}

function parsedPath(template: string, values: OutputValues) {
  if (template === '') throw new CommandError('template format specified but no template given');
  try {
    return jsonPath(template, values.allowMissingTemplateKeys);
  } catch (error) {
    if (error instanceof TemplateError) throw new CommandError(`error parsing jsonpath ${template}, ${error.message}`);
    throw error;
  }
}

function jsonPathPrint(template: string, values: OutputValues, write: (text: string) => unknown): Print {
  const path = parsedPath(template, values);
  return (object) => write(executed(template, () => path.print(object)));
}

function executed<T>(template: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new CommandError(
      `error executing jsonpath ${JSON.stringify(template)}: Error executing template: ${error.message}`,
    );
  }
}

function templatePrint(template: string, write: (text: string) => unknown): Print {
  if (template === '') throw new CommandError('template format specified but no template given');
  const print = templateErrors(`error parsing template ${template}`, () => goTemplate(template));
  return (object) => write(templateErrors(`error executing template ${JSON.stringify(template)}`, () => print(object)));
}

function templateErrors<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError) throw new CommandError(`${what}, template: output:1: ${error.message}`);
    throw error;
  }
}

/** `pod/a` of an object, or of each object of a list. */
function namesOf(object: JsonObject): string[] {
  const { items } = object;
  if (Array.isArray(items)) return items.filter(isJsonObject).flatMap(namesOf);
  return [printedName(object)];
}

/** An object as printed in messages: `deployment.apps/web`. */
export function printedName({ apiVersion = '', kind = '', metadata = null }: JsonObject): string {
  const group = jsonText(apiVersion).includes('/') ? `.${jsonText(apiVersion).split('/')[0]}` : '';
  const name = isJsonObject(metadata) ? (metadata['name'] ?? '') : '';
  return `${jsonText(kind).toLowerCase()}${group}/${jsonText(name)}`;
}

/** A copy without `metadata.managedFields`, also in the items of a list. */
function withoutManagedFieldsInItems(object: JsonObject): JsonObject {
  const { items } = object;
  const rest = withoutManagedFields(object);
  if (!Array.isArray(items)) return rest;
  const shown = items.map((item: Json) => (isJsonObject(item) ? withoutManagedFieldsInItems(item) : item));
  return { ...rest, items: shown };
}
