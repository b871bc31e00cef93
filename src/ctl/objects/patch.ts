/** The parts that the commands that change one part of objects share. */
import { at, type Json, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { CommandError } from '../errors.ts';
import { text, toggle, type ValuesOf } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { changeFlags, changeQuery, dryRunOf, Reporter } from './change.ts';
import { type PatchFormat, patchLocally } from './local-patch.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from './manifests.ts';
import { objectsOfTarget } from './pages.ts';
import { urlOf } from './selection.ts';
import { pathOfTarget, type Target, targetsOf } from './targets.ts';

export const selectorFlag = { selector: text('', 'Selector (label query) to filter on.', { short: 'l' }) };

/** The flags of commands that take objects by name, by a selector or from files. */
export const objectFlags = { ...filenameFlags, ...selectorFlag };

/** The flags of commands that change them, with the default field manager. */
export const patchFlags = (manager: string) => ({ ...changeFlags(manager), ...objectFlags });

export const localFlag = { local: toggle(false, 'If true, the command will NOT contact the server but run locally.') };

export const mediaTypes: { readonly [format in PatchFormat]: string } = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
};

/** An object and where it is. */
export interface Placed {
  readonly target: Target;
  readonly object: JsonObject;
}

/** Changes parts of objects as the flags of a command say, and reports each object. */
export class Patcher {
  readonly #cluster: Cluster | undefined;
  readonly #query: ReturnType<typeof changeQuery>;
  readonly #reporter: Reporter;

  private constructor(cluster: Cluster | undefined, query: ReturnType<typeof changeQuery>, reporter: Reporter) {
    this.#cluster = cluster;
    this.#query = query;
    this.#reporter = reporter;
  }

  /** Without a cluster, objects of files are changed and printed. @throws CommandError */
  static async open(
    cluster: Cluster | undefined,
    values: ValuesOf<ReturnType<typeof changeFlags>>,
    io: Io,
  ): Promise<Patcher> {
    const dryRun = dryRunOf(values, io);
    const reporter = await Reporter.open(values, dryRun, io);
    return new Patcher(dryRun === 'client' ? undefined : cluster, changeQuery(values, dryRun), reporter);
  }

  /** Sends a patch, or applies it here in a dry run of the client, and reports what was done. @throws StatusError */
  async patch(
    { target, object }: Partial<Placed> & Pick<Placed, 'object'>,
    format: PatchFormat,
    patch: Json,
    { done, subresource = '' }: { readonly done: string; readonly subresource?: string },
  ): Promise<void> {
    const changed =
      this.#cluster === undefined || target === undefined
        ? await patchLocally(object, format, patch)
        : await this.#cluster.send({
            method: 'PATCH',
            url: urlOf(`${pathOfTarget(target)}${subresource === '' ? '' : `/${subresource}`}`, this.#query),
            contentType: mediaTypes[format],
            body: patch,
          });
    this.report(subresource === '' ? changed : object, done);
  }

  /** Reports an object. */
  report(object: JsonObject, done: string): void {
    this.#reporter.changed(object, done);
  }
}

type ObjectValues = ValuesOf<typeof objectFlags>;

const pathAndNames = 'resource/name arguments cannot be provided when a path is specified';

/** The objects of files, otherwise those that arguments and a selector name, as the server has them. @throws CommandError */
export async function objectsOf(
  cluster: Cluster,
  args: readonly string[],
  values: ObjectValues,
  io: Io,
): Promise<Placed[]> {
  if (!hasFiles(values)) return placedObjects(cluster, await targetsOf(cluster, args), values.selector);
  const placed = await manifestsOf(cluster, args, values, io);
  return placedObjects(
    cluster,
    placed.map(({ target }) => target),
  );
}

type FileValues = ValuesOf<typeof filenameFlags>;

/** The objects of files as they are there, with their places. @throws CommandError */
export async function manifestsOf(
  cluster: Cluster,
  args: readonly string[],
  values: FileValues,
  io: Io,
): Promise<Placed[]> {
  if (args.length > 0) throw new CommandError(pathAndNames);
  const placed: Placed[] = [];
  for (const document of await readDocuments(values, io)) {
    const { object, resource, namespace, name, source } = await placeDocument(cluster, document);
    if (name === '') throw new CommandError(`${source}: metadata.name must be set`);
    placed.push({ object, target: { resource, namespace, name } });
  }
  return placed;
}

/** The objects of files for `--local`. @throws CommandError when there are no files */
export async function localObjects(
  args: readonly string[],
  values: FileValues,
  io: Io,
  withoutFiles: string,
): Promise<JsonObject[]> {
  if (!hasFiles(values)) throw new CommandError(withoutFiles);
  if (args.length > 0) throw new CommandError(pathAndNames);
  return (await readDocuments(values, io)).map(({ object }) => object);
}

/** The objects that targets stand for: each by its name, or all that a label selector matches. */
export async function placedObjects(cluster: Cluster, targets: readonly Target[], selector = ''): Promise<Placed[]> {
  const found: Placed[] = [];
  for (const target of targets) {
    for (const object of await objectsOfTarget(cluster, target, { selectors: { selector } })) {
      const namespace = target.resource.namespaced ? jsonText(at(object, 'metadata', 'namespace')) : undefined;
      found.push({ target: { ...target, namespace, name: jsonText(at(object, 'metadata', 'name')) }, object });
    }
  }
  return found;
}
