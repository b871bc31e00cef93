/** The objects that the arguments of a command name: `TYPE`, `TYPE NAME…`, `TYPE,TYPE` and `TYPE/NAME…`. */
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath, pathOf, type Resource } from '../cluster/resource.ts';
import { CommandError } from '../errors.ts';

/** One object, or all objects of a resource in a namespace or in all namespaces. */
export interface Target {
  readonly resource: Resource;
  /** Undefined for cluster-scoped resources and for all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined: all objects that the selectors match. */
  readonly name: string | undefined;
  /** Such as `status`. */
  readonly subresource?: string;
}

export interface TargetOptions {
  readonly allNamespaces?: boolean;
}

/** The path of a target. */
export function pathOfTarget({ resource, namespace, name, subresource }: Target): string {
  if (name === undefined) return pathOf(resource, namespace);
  const path = objectPath(resource, namespace, name);
  return subresource === undefined ? path : `${path}/${subresource}`;
}

const slashForm =
  "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'PROGRAM get resource/<resource_name>' instead of 'PROGRAM get resource resource/<resource_name>'";

/** @throws CommandError */
export async function targetsOf(
  cluster: Cluster,
  args: readonly string[],
  { allNamespaces = false }: TargetOptions = {},
): Promise<Target[]> {
  const isPair = (arg: string) => arg.includes('/');
  const [types = '', ...names] = args;
  if (args.some(isPair)) {
    if (!args.every(isPair)) throw new CommandError(slashForm.replaceAll('PROGRAM', 'orch ctl'));
    if (allNamespaces) {
      throw new CommandError('a resource cannot be retrieved by name across all namespaces');
    }
    const pairs: Target[] = [];
    for (const arg of args) pairs.push(await pairOf(cluster, arg));
    return pairs;
  }
  const resources = await resourcesOf(cluster, types);
  if (allNamespaces && names.length > 0 && resources.some(({ namespaced }) => namespaced)) {
    throw new CommandError('a resource cannot be retrieved by name across all namespaces');
  }
  const place = (resource: Resource) => (resource.namespaced && !allNamespaces ? cluster.namespace : undefined);
  return resources.flatMap((resource): Target[] =>
    names.length === 0
      ? [{ resource, namespace: place(resource), name: undefined }]
      : names.map((name) => ({ resource, namespace: place(resource), name })),
  );
}

async function pairOf(cluster: Cluster, arg: string): Promise<Target> {
  const [type = '', name = '', ...more] = arg.split('/');
  if (more.length > 0) {
    throw new CommandError(`arguments in resource/name form may not have more than one slash`);
  }
  if (type === '' || name === '') {
    throw new CommandError('arguments in resource/name form must have a single resource and name');
  }
  const resource = await resourceOf(cluster, type);
  return { resource, namespace: resource.namespaced ? cluster.namespace : undefined, name };
}

/** The resources of types separated by commas; a category such as `all` stands for its resources. */
async function resourcesOf(cluster: Cluster, types: string): Promise<Resource[]> {
  const discovery = await cluster.discovery();
  const resources: Resource[] = [];
  for (const type of types.split(',')) {
    const members = discovery.inCategory(type);
    for (const resource of members.length > 0 ? members : [await resourceOf(cluster, type)]) {
      if (!resources.includes(resource)) resources.push(resource);
    }
  }
  return resources;
}

/** The resource of a type. @throws CommandError when the server does not serve it */
export async function resourceOf(cluster: Cluster, type: string): Promise<Resource> {
  const resource = await (await cluster.discovery()).find(type);
  if (resource !== undefined) return resource;
  throw new CommandError(`the server doesn't have a resource type ${JSON.stringify(type.split('.')[0])}`);
}
