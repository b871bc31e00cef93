import { didYouMean } from './suggest.ts';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The parts of the server whose lines have a level of their own: most of them are rooms. */
export const logParts = [
  'server',
  'http',
  'store',
  'encryption',
  'registry',
  'admission',
  'auth',
  'audit',
  'controllers',
  'tracing',
] as const;
export type LogPart = (typeof logParts)[number];

/** The least level that is logged. */
export interface LogLevels {
  readonly level: LogLevel;
  /** Of parts for which it is another one. */
  readonly parts: ReadonlyMap<LogPart, LogLevel>;
}

export const defaultLevels: LogLevels = { level: 'info', parts: new Map() };

/** The verbosity of the reference server from which on it logs what is `debug` here. */
const debugVerbosity = 4;

/** Reads `info,store=debug`, or a number: the verbosity of the reference server. What is named last counts. */
export function parseLevels(text: string): { readonly value: LogLevels } | { readonly problem: string } {
  if (/^\d{1,9}$/.test(text)) {
    return { value: { ...defaultLevels, level: Number(text) < debugVerbosity ? 'info' : 'debug' } };
  }
  let { level } = defaultLevels;
  const parts = new Map<LogPart, LogLevel>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const [name = '', right, ...more] = item.split('=').map((part) => part.trim());
    const word = right ?? name;
    const wordLevel = logLevels.find((level) => level === word);
    if (wordLevel === undefined || more.length > 0) {
      return {
        problem: `must name levels among ${logLevels.join(', ')}; ${quoted(item)} does not${didYouMean(word, logLevels)}`,
      };
    }
    const part = logParts.find((candidate) => candidate === name);
    if (right === undefined) level = wordLevel;
    else if (part === undefined) {
      return {
        problem: `names an unknown part ${quoted(name)}; known are ${logParts.join(', ')}${didYouMean(name, logParts)}`,
      };
    } else parts.set(part, wordLevel);
  }
  return { value: { level, parts } };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** The inverse of `parseLevels`. */
export const formatLevels = ({ level, parts }: LogLevels): string =>
  [level, ...[...parts].map(([part, own]) => `${part}=${own}`)].join(',');
