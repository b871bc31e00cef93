/** The controllers that `--controllers` switches, each with its former names. All are on by default. */
const controllers = {
  'clusterrole-aggregation-controller': ['clusterrole-aggregation'],
} satisfies { [name: string]: readonly string[] };

export type ControllerName = keyof typeof controllers;
type Controllers = ReadonlySet<ControllerName>;

const controllerNames = Object.keys(controllers) as ControllerName[];
export const allControllers: Controllers = new Set(controllerNames);

/**
 * The controllers that a list switches on: `name`, `-name`, `*` for all others, `-*` for none of them. The first item
 * that is about a controller decides; without any it is off.
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
  const isOn = (controller: ControllerName) =>
    (switches.find(({ name }) => name === controller) ?? switches.find(({ name }) => name === '*'))?.on === true;
  return { value: new Set(controllerNames.filter(isOn)) };
}

const currentName = (name: string): ControllerName | '*' | undefined =>
  name === '*' ? name : controllerNames.find((known) => known === name || controllers[known].includes(name));

/** The inverse of `parseControllers`. */
export function formatControllers(on: Controllers): string {
  if (on.size === controllerNames.length) return '*';
  return on.size === 0 ? '-*' : [...on].join(',');
}
