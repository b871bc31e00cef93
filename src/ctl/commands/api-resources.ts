import type { Resource } from '../cluster/resource.ts';
import { qualifiedName } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { list, text, toggle } from '../flags/flag.ts';
import { printTable } from '../output/tab-writer.ts';

export const apiResourcesCommand = command({
  name: 'api-resources',
  summary: 'Print the supported API resources on the server',
  description: 'Print the supported API resources on the server.',
  usage: '',
  examples: [
    { title: 'Print the supported API resources', lines: ['ctl api-resources'] },
    { title: 'Print the supported API resources with more information', lines: ['ctl api-resources -o wide'] },
    { title: 'Print the supported namespaced resources', lines: ['ctl api-resources --namespaced=true'] },
  ],
  flags: {
    apiGroup: text('', 'Limit to resources in the specified API group.'),
    cached: toggle(false, 'Use the cached list of resources if available.'),
    categories: list('Limit to resources that belong to the specified categories.'),
    namespaced: toggle(
      true,
      'If false, non-namespaced resources will be returned, otherwise returning namespaced resources by default.',
    ),
    noHeaders: toggle(false, "When using the default output format, don't print headers (default print headers)."),
    output: text('', 'Output format. One of: (wide, name).', { short: 'o' }),
    sortBy: text('', "Sort the list by a field: either 'name' or 'kind'."),
    verbs: list('Limit to resources that support the specified verbs.'),
  },
  run: async ({ args, flags, io, path, isSet, cluster }) => {
    const { output, sortBy } = flags;
    if (args.length > 0)
      throw new CommandError(`unexpected arguments: [${args.join(' ')}]\nSee '${path} -h' for help and examples`);
    if (!['', 'wide', 'name'].includes(output)) throw new CommandError(`--output ${output} is not available`);
    if (!['', 'name', 'kind'].includes(sortBy)) throw new CommandError('--sort-by accepts only name or kind');
    const discovery = await (await cluster()).discovery();
    if (!flags.cached) await discovery.refresh();
    const isIncluded = (resource: Resource) =>
      (!isSet('apiGroup') || resource.group === flags.apiGroup) &&
      (!isSet('namespaced') || resource.namespaced === flags.namespaced) &&
      flags.verbs.every((verb) => resource.verbs.includes(verb)) &&
      flags.categories.every((category) => resource.categories.includes(category)) &&
      resource.verbs.length > 0;
    const resources = discovery.preferred().filter(isIncluded).toSorted(ordered(sortBy));
    if (output === 'name') {
      io.stdout.write(resources.map((resource) => `${qualifiedName(resource)}\n`).join(''));
      return 0;
    }
    const isWide = output === 'wide';
    const header = [
      'NAME',
      'SHORTNAMES',
      'APIVERSION',
      'NAMESPACED',
      'KIND',
      ...(isWide ? ['VERBS', 'CATEGORIES'] : []),
    ];
    const rows = resources.map(({ name, shortNames, apiVersion, namespaced, kind, verbs, categories }) => [
      name,
      shortNames.join(','),
      apiVersion,
      String(namespaced),
      kind,
      ...(isWide ? [verbs.join(','), categories.join(',')] : []),
    ]);
    printTable((line) => io.stdout.write(line), flags.noHeaders ? rows : [header, ...rows]);
    return 0;
  },
});

const ordered = (sortBy: string) => (a: Resource, b: Resource) => {
  const compare = (x: string, y: string) => (x < y ? -1 : x > y ? 1 : 0);
  if (sortBy === 'kind') return compare(a.kind, b.kind);
  return (sortBy === 'name' ? 0 : compare(a.group, b.group)) || compare(a.name, b.name);
};
