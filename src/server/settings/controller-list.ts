import { listedControllers } from '../../controllers/index.ts';

/** The names of the controllers that are on. */
type Controllers = ReadonlySet<string>;

export const controllerNames: readonly string[] = listedControllers.map(({ name }) => name);

/** The controllers that `*` enables. */
export const defaultControllers: Controllers = new Set(
  listedControllers.filter(({ onlyWhenNamed }) => onlyWhenNamed !== true).map(({ name }) => name),
);

/**
 * Parses a list of controllers: `name`, `-name`, `*` for all that are on by default, `-*` for none of those that the list
 * does not name. The first item that matches a controller decides; without a match it is off.
 */
export function parseControllers(text: string): { readonly value: Controllers } | { readonly problem: string } {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) return { problem: 'must name controllers, or be * for all or -* for none' };
  const switches = items.map((item) => ({ on: !item.startsWith('-'), name: currentName(item.replace(/^-/, '')) }));
  const unknown = switches.find(({ name }) => name === undefined);
  if (unknown !== undefined) {
    const item = JSON.stringify(items[switches.indexOf(unknown)]);
    return { problem: `names an unknown controller ${item}; known are ${controllerNames.join(', ')}` };
  }
  const star = switches.find(({ name }) => name === '*')?.on === true;
  const isOn = (controller: string) =>
    switches.find(({ name }) => name === controller)?.on ?? (star && defaultControllers.has(controller));
  return { value: new Set(controllerNames.filter(isOn)) };
}

const currentName = (name: string): string | undefined =>
  name === '*'
    ? name
    : listedControllers.find((controller) => controller.name === name || controller.formerName === name)?.name;

/** The inverse of `parseControllers`. */
export function formatControllers(on: Controllers): string {
  const items = controllerNames.flatMap((name) =>
    on.has(name) === defaultControllers.has(name) ? [] : [on.has(name) ? name : `-${name}`],
  );
  if (items.length === 0) return '*';
  return on.size === 0 ? '-*' : ['*', ...items].join(',');
}
