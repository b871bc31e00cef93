import type { Names } from '../meta/index.ts';

interface NameParts {
  /** The package or the group, such as `core` or `example.com`. */
  readonly home: string;
  readonly version: string;
  readonly name: string;
}

/** The parts of the name of an OpenAPI component: `io.k8s.api.apps.v1.Deployment`, `com.example.v1.Widget`. */
function partsOf(component: string, { openApi }: Names): NameParts {
  const parts = component.split('.');
  const name = parts.pop() ?? '';
  const version = /^v\d+((alpha|beta)\d+)?$/.test(parts.at(-1) ?? '') ? (parts.pop() ?? '') : '';
  const builtIn = component.startsWith(`${openApi}.`) && (parts.includes('api') || parts.includes('pkg'));
  return { home: builtIn ? (parts.at(-1) ?? '') : parts.reverse().join('.'), version, name };
}

/** The text as part of an identifier: `foo-bar.baz` is `FooBarBaz`. */
export const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_, letter: string) => letter.toUpperCase());

/** A name that is not taken: with a number if it is. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}${number}`;
  return free;
}

/**
 * The names of the types of OpenAPI components: version and name (`V1Deployment`), behind the group where components of
 * several groups have the same (`CoreV1Event`, `EventsV1Event`). With `bareMeta` the types of object metadata have no
 * version (`ObjectMeta`).
 */
export function typeNames(components: Iterable<string>, names: Names, bareMeta: boolean): Map<string, string> {
  const short = new Map<string, string[]>();
  const homes = new Map<string, string>();
  for (const component of [...components].sort()) {
    const { home, version, name } = partsOf(component, names);
    const bare = bareMeta && home === 'meta';
    const own = pascal(bare ? name : `${version}-${name}`);
    homes.set(component, home);
    short.set(own, [...(short.get(own) ?? []), component]);
  }
  const result = new Map<string, string>();
  const usedNames = new Set(short.keys());
  for (const [own, sharers] of short) {
    for (const component of sharers) {
      const long = () => freeName(pascal(homes.get(component) ?? '') + own, (name) => usedNames.has(name));
      const name = sharers.length === 1 ? own : long();
      usedNames.add(name);
      result.set(component, name);
    }
  }
  return result;
}
