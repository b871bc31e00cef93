import { isJsonObject, type Json } from '../meta/index.ts';
import { leaseProblems } from './controller-flags.ts';
import {
  defaultSettings,
  type FlagKey,
  flagList,
  programSettings,
  type ServerSettings,
  type Settings,
  variableOf,
} from './flags.ts';
import type { ServerOptions } from './server-options.ts';
import { StartError } from './start-error.ts';
import { didYouMean } from './suggest.ts';

/** The sources of settings. */
export interface SettingSources {
  /** The arguments after the command. */
  readonly argv: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  /** Reads the YAML file of `--config`. Its errors are passed on. */
  readonly readConfig: (path: string) => Promise<Json>;
}

export type SettingsResult =
  | { readonly settings: Settings }
  /** One sentence for each invalid setting, with its source. */
  | { readonly problems: readonly string[] };

/** The text of a setting, and its source for messages. */
interface LayerValue {
  readonly text: string;
  readonly where: string;
}
type Layer = Map<string, LayerValue>;

type Listed = (typeof flagList)[number];
const byName = new Map<string, Listed>(flagList.map((flag) => [flag.name, flag]));
const flagNames = [...byName.keys()];

/** The settings of a process. Precedence: command line, environment, file, defaults. */
export async function readSettings({ argv, env, readConfig }: SettingSources): Promise<SettingsResult> {
  const problems: string[] = [];
  const layers = await withFile([readLine(argv, problems), readEnvironment(env)], readConfig, problems);
  const settings = mergeLayers(defaultSettings, layers, problems, ({ name }) => `--${name}`);
  return problems.length > 0 ? { problems } : { settings };
}

/** The settings of an embedded server. Precedence: options, file, defaults. @throws StartError */
export async function readOptions(
  options: ServerOptions,
  readConfig: SettingSources['readConfig'],
): Promise<ServerSettings> {
  const problems: string[] = [];
  const layers = await withFile([readProgram(options, problems)], readConfig, problems);
  const settings = mergeLayers(programSettings, layers, problems, ({ key }) => key);
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return settings;
}

/** Appends the layer of the `config` file that one of the layers names. */
async function withFile(
  layers: readonly Layer[],
  readConfig: SettingSources['readConfig'],
  problems: string[],
): Promise<Layer[]> {
  const given = layers.map((layer) => layer.get('config')).find((found) => found !== undefined);
  return given === undefined ? [...layers] : [...layers, readFile(await readConfig(given.text), given.text, problems)];
}

/** Merges the layers, the first one taking precedence; `spell` names a flag in messages. */
function mergeLayers<S extends ServerSettings>(
  defaults: S,
  layers: readonly Layer[],
  problems: string[],
  spell: (flag: Listed) => string,
): S {
  const settings: { [key: string]: unknown } = { ...defaults };
  for (const { key, name, type } of flagList) {
    const found = layers.map((layer) => layer.get(name)).find((given) => given !== undefined);
    if (found === undefined) continue;
    const parsed = type.parse(found.text);
    if ('value' in parsed) settings[key] = parsed.value;
    else problems.push(`${found.where}=${JSON.stringify(found.text)} ${parsed.problem}`);
  }
  const flagName = (key: FlagKey) => spell(flagList.find((flag) => flag.key === key) as Listed);
  for (const pair of pairs) {
    if (pair.every((key) => settings[key] === undefined) || pair.every((key) => settings[key] !== undefined)) continue;
    problems.push(`${pair.map(flagName).join(' and ')} must be given together`);
  }
  const { enableAdmissionPlugins: on, disableAdmissionPlugins: off } = settings as S;
  for (const name of on.filter((word) => off.includes(word))) {
    problems.push(`${flagName('enableAdmissionPlugins')} and ${flagName('disableAdmissionPlugins')} both name ${name}`);
  }
  for (const problem of leaseProblems(settings as S, flagName)) problems.push(problem);
  return settings as S;
}

/** Flags that must be set together. */
const pairs: readonly (readonly FlagKey[])[] = [
  ['tlsCertFile', 'tlsPrivateKeyFile'],
  ['kubeletClientCertificate', 'kubeletClientKey'],
];

function readLine(argv: readonly string[], problems: string[]): Layer {
  const layer: Layer = new Map();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    const [, name = '', equals, inline = ''] = /^--?([^=]*)(=?)(.*)$/s.exec(argument) ?? [];
    if (!argument.startsWith('-') || name === '') {
      problems.push(`unexpected argument ${JSON.stringify(argument)}: a setting is written --name=value`);
      continue;
    }
    const flag = byName.get(name);
    const next = argv[i + 1];
    const takesNext = equals === '' && flag?.type.bare !== true && next !== undefined && !next.startsWith('--');
    if (flag === undefined || !argument.startsWith('--')) {
      problems.push(`unknown flag ${JSON.stringify(argument.split('=')[0])}${didYouMean(name, flagNames)}`);
      // Probably the value of the unknown flag: no error of its own.
      if (equals === '' && next !== undefined && !next.startsWith('-')) i++;
      continue;
    }
    if (takesNext) i++;
    const text = takesNext ? next : equals === '=' ? inline : flag.type.bare === true ? 'true' : undefined;
    if (text === undefined) problems.push(`--${name} needs a value: --${name}=<${flag.type.placeholder}>`);
    else add(layer, flag, text);
  }
  return layer;
}

function add(layer: Layer, flag: Listed, text: string): void {
  const before = flag.type.joins === true ? layer.get(flag.name) : undefined;
  layer.set(flag.name, { text: before === undefined ? text : `${before.text},${text}`, where: `--${flag.name}` });
}

function readEnvironment(env: SettingSources['env']): Layer {
  const layer: Layer = new Map();
  for (const { name } of flagList) {
    const text = env[variableOf(name)];
    if (text !== undefined && text !== '') layer.set(name, { text, where: variableOf(name) });
  }
  return layer;
}

function readProgram(options: ServerOptions, problems: string[]): Layer {
  const layer: Layer = new Map();
  if (!isPlainObject(options)) {
    problems.push('the settings must be an object, such as { securePort: 0 }');
    return layer;
  }
  const keys: string[] = flagList.map(({ key }) => key);
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const flag = flagList.find((known) => known.key === key);
    if (flag === undefined) {
      problems.push(`${key} is an unknown setting${didYouMean(key, keys)}`);
      continue;
    }
    const { ofNumber = String } = flag.type;
    const text = typeof value === 'number' ? ofNumber(value) : textOf(flag, value);
    if (text === undefined) problems.push(`${key} ${unwritable(flag)}`);
    else layer.set(flag.name, { text, where: key });
  }
  return layer;
}

function readFile(content: Json, path: string, problems: string[]): Layer {
  const layer: Layer = new Map();
  if (content === null) return layer;
  if (!isJsonObject(content)) {
    problems.push(`${path} must hold a map of settings, such as "secure-port: 6443"`);
    return layer;
  }
  for (const [name, value] of Object.entries(content)) {
    const where = `${name} in ${path}`;
    const flag = byName.get(name);
    if (name === 'config') problems.push(`${where} would name another file: there can be one only`);
    else if (flag === undefined) {
      problems.push(`${where} is an unknown setting${didYouMean(name, flagNames)}`);
    } else {
      const text = textOf(flag, value);
      if (text === undefined) problems.push(`${where} ${unwritable(flag)}`);
      else layer.set(name, { text, where });
    }
  }
  return layer;
}

/** A value as flag text; undefined when it cannot be expressed. */
function textOf({ type }: Listed, value: unknown): string | undefined {
  if (type.joins !== true) return scalarText(value);
  const texts = Array.isArray(value)
    ? value.map(scalarText)
    : isPlainObject(value)
      ? Object.entries(value).map(([name, item]) => pairText(name, scalarText(item)))
      : [scalarText(value)];
  return texts.includes(undefined) ? undefined : texts.join(',');
}

const unwritable = ({ type }: Listed): string =>
  type.joins === true
    ? 'must be a text, a number, true or false, a list of these, or a map of them'
    : 'must be a text, a number, true or false';

/** False for a `Map` and other class instances. */
function isPlainObject(value: unknown): value is { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const scalars = ['string', 'number', 'bigint', 'boolean'];
const scalarText = (value: unknown) => (scalars.includes(typeof value) ? String(value) : undefined);

const pairText = (name: string, text: string | undefined) => (text === undefined ? undefined : `${name}=${text}`);
