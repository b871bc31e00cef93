/** What the commands that change one part of objects share. */
import { at, type Json, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { text, type ValuesOf } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { changeFlags, changeQuery, dryRunOf, Reporter } from './change.ts';
import { objectsOfTarget } from './pages.ts';
import { urlOf } from './selection.ts';
import { pathOfTarget, type Target } from './targets.ts';

/** The flags of these commands, with the default field manager. */
export const patchFlags = (manager: string) => ({
  ...changeFlags(manager),
  selector: text('', 'Selector (label query) to filter on.', { short: 'l' }),
});

const mediaTypes = {
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
  readonly #cluster: Cluster;
  readonly #query: ReturnType<typeof changeQuery>;
  readonly #reporter: Reporter;
  readonly #sends: boolean;

  private constructor(cluster: Cluster, query: ReturnType<typeof changeQuery>, reporter: Reporter, sends: boolean) {
    this.#cluster = cluster;
    this.#query = query;
    this.#reporter = reporter;
    this.#sends = sends;
  }

  /** @throws CommandError */
  static async open(cluster: Cluster, values: ValuesOf<ReturnType<typeof patchFlags>>, io: Io): Promise<Patcher> {
    const dryRun = dryRunOf(values, io);
    return new Patcher(
      cluster,
      changeQuery(values, dryRun),
      await Reporter.open(values, dryRun, io),
      dryRun !== 'client',
    );
  }

  /** Sends a patch unless this is a dry run of the client, and reports what was done. @throws StatusError */
  async patch(
    { target, object }: Placed,
    format: keyof typeof mediaTypes,
    patch: Json,
    { done, subresource = '' }: { readonly done: string; readonly subresource?: string },
  ): Promise<void> {
    const path = `${pathOfTarget(target)}${subresource === '' ? '' : `/${subresource}`}`;
    const request = { method: 'PATCH' as const, contentType: mediaTypes[format], body: patch };
    const changed = this.#sends ? await this.#cluster.send({ ...request, url: urlOf(path, this.#query) }) : object;
    this.report(subresource === '' ? changed : object, done);
  }

  /** Reports an object. */
  report(object: JsonObject, done: string): void {
    this.#reporter.changed(object, done);
  }
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
