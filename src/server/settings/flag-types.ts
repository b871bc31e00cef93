import { isIP } from 'node:net';
import { formatPortRange, type PortRange } from '../../allocation/index.ts';
import {
  type Cidr,
  releaseBefore as earlier,
  formatCidr,
  formatRelease,
  parseNetwork,
  type Release,
} from '../../meta/index.ts';
import { formatControllers, parseControllers } from './controller-list.ts';
import { formatLevels, type LogLevels, parseLevels } from './log-levels.ts';
import { didYouMean } from './suggest.ts';

/** Parses and formats the values of a flag. */
export interface FlagType<T> {
  /** The placeholder of the value in `--help`, such as `port`. */
  readonly placeholder: string;
  /** The TypeScript type of the option of `createServer`; flag text is always accepted, too. */
  readonly optionType: string;
  /** The form of a value with its unit: a sentence for the documentation of the option. */
  readonly form: string;
  /** The text of a number, where that is not its digits. */
  readonly ofNumber?: (value: number) => string;
  /** The value, or the problem as the rest of a sentence: "must …" or "names …". */
  readonly parse: (text: string) => Parsed<T>;
  /** The inverse of `parse`; empty for undefined. */
  readonly format: (value: T) => string;
  /** `--name` alone means `--name=true`. */
  readonly bare?: true;
  /** Repeated flags are joined with commas; otherwise the last one wins. */
  readonly joins?: true;
}

type Parsed<T> = { readonly value: T } | { readonly problem: string };

const optional = (value: string | undefined) => value ?? '';

const text: FlagType<string> = {
  placeholder: 'text',
  optionType: 'string',
  form: 'A text.',
  parse: (value) => (value === '' ? { problem: 'must not be empty' } : { value }),
  format: String,
};

/** A text; undefined when not set. */
export const optionalText: FlagType<string | undefined> = { ...text, format: optional };

/** A text that may be empty, and is checked where it is used. */
export const anyText: FlagType<string> = { ...text, parse: (value) => ({ value }) };

/** A path; undefined when not set. */
export const file: FlagType<string | undefined> = {
  ...text,
  placeholder: 'file',
  form: 'The path of a file.',
  format: optional,
};

/** A list of texts; `problemOf` returns the problem of one, undefined when it is valid. */
export function texts(what: string, problemOf: (text: string) => string | undefined): FlagType<readonly string[]> {
  return {
    placeholder: `${what},…`,
    optionType: 'string | readonly string[]',
    form: 'A list of texts, or a text with commas between them.',
    parse: (value) => {
      const parts = value.split(',').map((part) => part.trim());
      if (parts.includes('')) return { problem: 'must not be empty, nor have an empty part between commas' };
      const twice = parts.find((part, i) => parts.indexOf(part) < i);
      if (twice !== undefined) return { problem: `names ${JSON.stringify(twice)} twice` };
      const [problem] = parts.flatMap((part) => problemOf(part) ?? []);
      return problem === undefined ? { value: parts } : { problem };
    },
    format: (value) => value.join(','),
    joins: true,
  };
}

/** An https URL; undefined when not set. */
export const secureUrl: FlagType<string | undefined> = {
  ...text,
  placeholder: 'url',
  form: 'An https URL.',
  parse: (value) =>
    URL.canParse(value) && new URL(value).protocol === 'https:' ? { value } : { problem: 'must be an https URL' },
  format: optional,
};

/** A path of a folder; undefined when not set. */
export const folder: FlagType<string | undefined> = {
  ...file,
  placeholder: 'folder',
  form: 'The path of a folder.',
};

/** A key prefix: segments of a path. */
export const keyPrefix: FlagType<string> = {
  ...text,
  placeholder: 'prefix',
  form: "A text such as '/registry'.",
  parse: (value) =>
    value.length <= 1_000 && /^(?:\/[^/]+)+$/.test(value)
      ? { value }
      : { problem: 'must begin with a slash, not end with one, and be no longer than 1000, such as /registry' },
};

/** An address; undefined when not set. */
export const optionalIpAddress: FlagType<string | undefined> = {
  placeholder: 'address',
  optionType: 'string',
  form: 'An IP address.',
  parse: (value) => ipAddress.parse(value),
  format: optional,
};

export const ipAddress: FlagType<string> = {
  placeholder: 'address',
  optionType: 'string',
  form: 'An IP address.',
  parse: (value) =>
    isIP(value) === 0 ? { problem: 'must be an IP address, such as 127.0.0.1, 0.0.0.0 or ::' } : { value },
  format: String,
};

const readBoolean = (text: string): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;

export const boolean: FlagType<boolean> = {
  placeholder: 'true|false',
  optionType: 'boolean',
  form: 'True or false.',
  parse: (text) => {
    const value = readBoolean(text);
    return value === undefined ? { problem: 'must be true or false' } : { value };
  },
  format: String,
  bare: true,
};

/** Like the previous type; undefined when not set. */
export const optionalBoolean: FlagType<boolean | undefined> = {
  ...boolean,
  format: (value) => (value === undefined ? '' : String(value)),
};

/** An integer in a range. */
export function integer(min: number, max: number, placeholder = 'number'): FlagType<number> {
  return {
    placeholder,
    optionType: 'number | string',
    form: `A whole number${placeholder === 'seconds' ? ' of seconds' : ''} from ${min} to ${max}.`,
    parse: (value) =>
      /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
        ? { value: Number(value) }
        : { problem: `must be a whole number from ${min} to ${max}` },
    format: String,
  };
}

export const port: FlagType<number> = integer(0, 65_535, 'port');

const unitMs = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
type Unit = keyof typeof unitMs;

/** A duration in milliseconds. */
export const duration: FlagType<number> = {
  placeholder: 'duration',
  optionType: 'number | string',
  form: "A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'.",
  ofNumber: (ms) => `${ms}ms`,
  parse: (value) => {
    if (value === '0') return { value: 0 };
    if (!/^(\d{1,9}(\.\d{1,3})?(ms|h|m|s))+$/.test(value)) {
      return { problem: 'must be a duration such as 30s, 500ms or 1h30m' };
    }
    const parts = value.matchAll(/([\d.]+)(ms|h|m|s)/g);
    const ms = [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * unitMs[unit as Unit], 0);
    return { value: Math.round(ms) };
  },
  format: (value) => {
    let rest = value;
    let out = '';
    for (const [unit, ms] of Object.entries(unitMs)) {
      if (rest >= ms) out += `${Math.floor(rest / ms)}${unit}`;
      rest %= ms;
    }
    return out === '' ? '0s' : out;
  },
};

/** The lifetime of cached responses in milliseconds. A negative value disables the cache, like 0. */
export const lifetime: FlagType<number> = {
  ...duration,
  parse: (value) =>
    value.startsWith('-') && 'value' in duration.parse(value.slice(1)) ? { value: 0 } : duration.parse(value),
};

/** Like the previous type; undefined when not set. */
export const optionalLifetime: FlagType<number | undefined> = {
  ...lifetime,
  format: (value) => (value === undefined ? '' : duration.format(value)),
};

/** One of a set of words. */
export function oneOf<const T extends string>(...words: readonly T[]): FlagType<T> {
  return {
    placeholder: words.join('|'),
    optionType: words.map((word) => `'${word}'`).join(' | '),
    form: 'One of these words.',
    parse: (value) => {
      const word = words.find((w) => w === value);
      return word === undefined
        ? { problem: `must be one of ${words.join(', ')}${didYouMean(value, words)}` }
        : { value: word };
    },
    format: String,
  };
}

/** The previous minor release; undefined when not set. */
export function releaseBefore(release: Release) {
  const before = formatRelease(earlier(release));
  const type: FlagType<string | undefined> = {
    placeholder: 'release',
    optionType: 'string',
    form: 'A minor release.',
    parse: (value) => {
      if (value === '') return { value: undefined };
      return value === before ? { value } : { problem: `must be ${before} or be left out` };
    },
    format: optional,
  };
  return type;
}

/** An inclusive range of ports. */
export const portRange: FlagType<PortRange> = {
  placeholder: 'from-to',
  optionType: 'string',
  form: "A text such as '30000-32767'.",
  parse: (value) => {
    const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(value) ?? [];
    const range = { from: Number(from), to: Number(to) };
    return range.from >= 1 && range.from <= range.to && range.to <= 65_535
      ? { value: range }
      : { problem: 'must be a range of ports from 1 to 65535, such as 30000-32767' };
  },
  format: formatPortRange,
};

/** The minimum and maximum prefix length of a service CIDR, by IP family. */
const prefixes = { 4: [1, 29], 6: [64, 125] } as const;

/** CIDRs, at most one of each IP family. */
export const cidrs: FlagType<readonly Cidr[]> = {
  placeholder: 'block,…',
  optionType: 'string | readonly string[]',
  form: "A text such as '10.0.0.0/24', or a list of such texts.",
  parse: (value) => {
    const blocks = value.split(',').map((part) => parseNetwork(part.trim()));
    const families = new Set(blocks.map((block) => isIP(block?.address ?? '')));
    for (const block of blocks.filter((block) => block !== undefined)) {
      const [least, most] = prefixes[isIP(block.address) as 4 | 6];
      if (block.prefix < least || block.prefix > most) {
        return { problem: `must have blocks from /${least} to /${most}; ${formatCidr(block)} is not` };
      }
    }
    return blocks.includes(undefined) || families.size < blocks.length
      ? { problem: 'must be an address block such as 10.0.0.0/24, or one of IPv4 and one of IPv6 with a comma between' }
      : { value: blocks.filter((block) => block !== undefined) };
  },
  format: (blocks) => blocks.map(formatCidr).join(','),
  joins: true,
};

/** A DNS name with at least two labels, in lower case. */
export const domain: FlagType<string> = {
  placeholder: 'domain',
  optionType: 'string',
  form: "A text such as 'example.org'.",
  parse: (value) =>
    value.length <= 200 && /^[a-z]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(value)
      ? { value }
      : { problem: 'must be a domain such as example.org, in lower case' },
  format: String,
};

/** A domain; undefined when not set. */
export const optionalDomain: FlagType<string | undefined> = {
  ...domain,
  parse: (value) => domain.parse(value),
  format: optional,
};

/** The texts of booleans in switches, as in the reference server. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

/**
 * `name=true|false` pairs; `check` returns the problem of a pair, undefined when it is valid. `alone` is what a name
 * without a value means; undefined: it is an error.
 */
export function switches(
  check: (name: string, on: boolean, text: string) => string | undefined,
  alone?: boolean,
): FlagType<ReadonlyMap<string, boolean>> {
  return {
    placeholder: 'name=true|false,…',
    optionType: '{ readonly [name: string]: boolean } | string',
    form: "True or false by name, or a text such as 'name=true,other=false'.",
    parse: (value) => {
      const out = new Map<string, boolean>();
      for (const part of value.split(',').filter((p) => p.trim() !== '')) {
        const [name = '', setting, ...more] = part.split('=').map((p) => p.trim());
        if (name !== '' && setting === undefined && alone === undefined) {
          return { problem: `has no value for ${name}: write ${name}=true or ${name}=false` };
        }
        const on = (setting ?? '') === '' ? alone : truths.get(setting ?? '');
        if (name === '' || more.length > 0 || on === undefined) {
          return { problem: `must be name=true or name=false, with commas between; ${JSON.stringify(part)} is not` };
        }
        const problem = check(name, on, setting ?? '');
        if (problem !== undefined) return { problem };
        out.set(name, on);
      }
      return { value: out };
    },
    format: (map) => [...map].map(([name, on]) => `${name}=${on}`).join(','),
    joins: true,
  };
}

/** Comma-separated words of a list; `what` describes them in messages. */
export function someOf(what: string, words: readonly string[]): FlagType<readonly string[]> {
  return {
    placeholder: 'name,…',
    optionType: 'string | readonly string[]',
    form: 'A list of names, or a text with commas between them.',
    parse: (value) => {
      const names = value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      const unknown = names.find((word) => !words.includes(word));
      if (unknown === undefined) return { value: [...new Set(names)] };
      return { problem: `names an unknown ${what} ${JSON.stringify(unknown)}${didYouMean(unknown, words)}` };
    },
    format: (value) => value.join(','),
    joins: true,
  };
}

/** The enabled controllers. */
export const controllers: FlagType<ReadonlySet<string>> = {
  placeholder: 'name,…',
  optionType: 'string | readonly string[]',
  form: 'A list of names, or a text with commas between them.',
  parse: parseControllers,
  format: formatControllers,
  joins: true,
};

/** The levels of the log. */
export const levels: FlagType<LogLevels> = {
  placeholder: 'level,part=level,…',
  optionType: 'string',
  form: "A text such as 'info' or 'info,store=debug'.",
  parse: parseLevels,
  format: formatLevels,
  joins: true,
};
