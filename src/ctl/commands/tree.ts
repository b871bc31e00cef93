import { readinessOf } from '../../client/index.ts';
import { at, formatAge, isJsonObject, type Json, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath, pathOf, printedType, type Resource } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { singleTarget } from '../history/former.ts';
import { storedResources } from '../history/stored-resources.ts';
import { pathOfTarget, targetsOf } from '../objects/targets.ts';
import { printTable } from '../output/tab-writer.ts';

/** An object by its metadata. */
interface Node {
  readonly resource: Resource;
  readonly object: JsonObject;
}

/** How many lists and objects are read at the same time. */
const parallel = 8;
/** The most objects that are shown, and the longest chain of owners that is followed. */
const maxShown = 1_000;
const maxDepth = 50;

export const treeCommand = command({
  name: 'tree',
  summary: 'Show the owners and the dependents of an object',
  description: `Show the owners of an object up to the topmost one, and all objects that depend on it, with their readiness.

 Dependents are looked for in all resources that you may list, in the namespace of the object.`,
  usage: '(TYPE NAME | TYPE/NAME)',
  examples: [{ title: 'Show what a deployment has made', lines: ['ctl tree deployment web'] }],
  flags: {},
  run: async ({ args, io, path, cluster }) => {
    const opened = await cluster();
    const target = singleTarget(await targetsOf(opened, args), path);
    const { resource, namespace } = target;
    const root: Node = { resource, object: await opened.send({ url: pathOfTarget(target) }) };
    const owners = await ownersOf(opened, root, namespace);
    const dependents = await io.progress.during(
      () => 'Looking for dependents in all resources',
      () => dependentsOf(opened, namespace),
    );
    const rows = [...owners, root].map((node, depth) => ({
      node,
      lead: depth === 0 ? '' : `${'  '.repeat(depth - 1)}└─`,
    }));
    const indent = '  '.repeat(owners.length);
    for (const { node, lead } of treeOf(root, dependents, indent)) {
      if (rows.push({ node, lead }) > maxShown) break;
    }
    const cells = await inParallel(rows, async ({ node, lead }) => [
      `${lead}${printedType(node.resource)}/${nameOf(node.object)}`,
      await readiness(opened, node, namespace),
      formatAge(textOf(at(node.object, 'metadata', 'creationTimestamp')), io.clock.now()),
    ]);
    printTable((line) => io.stdout.write(line), [['NAME', 'READY', 'AGE'], ...cells]);
    if (rows.length > maxShown) io.stderr.write(`Only the first ${maxShown} objects are shown.\n`);
    return 0;
  },
});

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const nameOf = (object: JsonObject): string => textOf(at(object, 'metadata', 'name'));
const uidOf = (object: JsonObject): string => textOf(at(object, 'metadata', 'uid'));

function referencesOf(object: JsonObject): JsonObject[] {
  const references = at(object, 'metadata', 'ownerReferences');
  return Array.isArray(references) ? references.filter(isJsonObject) : [];
}

/** The chain of owners, the topmost first: the controller of each object, or its first owner. */
async function ownersOf(cluster: Cluster, root: Node, namespace: string | undefined): Promise<Node[]> {
  const chain: Node[] = [];
  for (let node = root; chain.length < maxDepth; ) {
    const references = referencesOf(node.object);
    const owner = references.find(({ controller }) => controller === true) ?? references[0];
    if (owner === undefined) break;
    const resource = await (await cluster.discovery()).findKind(textOf(owner['apiVersion']), textOf(owner['kind']));
    if (resource === undefined) break;
    const place = resource.namespaced ? namespace : undefined;
    const object = await cluster.send({ url: objectPath(resource, place, textOf(owner['name'])) }).catch(skipMissing);
    if (object === undefined || uidOf(object) !== owner['uid']) break;
    node = { resource, object };
    chain.unshift(node);
  }
  return chain;
}

function skipMissing(error: unknown): undefined {
  if (error instanceof StatusError && [403, 404, 405, 503].includes(error.code)) return undefined;
  throw error;
}

/** The objects of a namespace, or of the cluster, by the UIDs of their owners. */
async function dependentsOf(cluster: Cluster, namespace: string | undefined): Promise<Map<string, Node[]>> {
  const discovery = await cluster.discovery();
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${discovery.names.domain}`;
  const resources = storedResources(discovery).filter(({ namespaced }) => namespaced || namespace === undefined);
  const found = new Map<string, Node[]>();
  await inParallel(resources, async (resource) => {
    for (let token = ''; ; ) {
      const query = new URLSearchParams({ limit: '500', ...(token === '' ? {} : { continue: token }) });
      const page = await cluster
        .send({ url: `${pathOf(resource, namespace)}?${String(query)}`, accept })
        .catch(skipMissing);
      const { items = [] } = page ?? {};
      for (const object of (Array.isArray(items) ? items : []).filter(isJsonObject)) {
        for (const { uid } of referencesOf(object)) {
          found.set(textOf(uid), [...(found.get(textOf(uid)) ?? []), { resource, object }]);
        }
      }
      token = textOf(at(page, 'metadata', 'continue'));
      if (token === '') return;
    }
  });
  return found;
}

/** The dependents of an object and theirs, each with the lines that lead to it. */
function* treeOf(
  root: Node,
  dependents: ReadonlyMap<string, readonly Node[]>,
  indent: string,
  seen = new Set([uidOf(root.object)]),
): Generator<{ readonly node: Node; readonly lead: string }> {
  const children = (dependents.get(uidOf(root.object)) ?? []).filter(({ object }) => !seen.has(uidOf(object)));
  for (const { object } of children) seen.add(uidOf(object));
  for (const [i, node] of children.toSorted(byName).entries()) {
    const isLast = i === children.length - 1;
    yield { node, lead: `${indent}${isLast ? '└─' : '├─'}` };
    yield* treeOf(node, dependents, `${indent}${isLast ? '  ' : '│ '}`, seen);
  }
}

const byName = (a: Node, b: Node): number =>
  `${printedType(a.resource)}/${nameOf(a.object)}` < `${printedType(b.resource)}/${nameOf(b.object)}` ? -1 : 1;

/** The readiness of an object, whose metadata alone is known. */
async function readiness(cluster: Cluster, { resource, object }: Node, namespace: string | undefined): Promise<string> {
  const place = resource.namespaced ? namespace : undefined;
  const whole = await cluster.send({ url: objectPath(resource, place, nameOf(object)) }).catch(skipMissing);
  return whole === undefined ? '-' : readinessOf(whole);
}

/** The results of the work on each item, in their order; a few at the same time. */
async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [i, item] of entries) results[i] = await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}
