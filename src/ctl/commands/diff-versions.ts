import { maskedPair } from '../../client/index.ts';
import { at, isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { CommandContext } from '../command.ts';
import { CommandError, errorText } from '../errors.ts';
import { text } from '../flags/flag.ts';
import { readAt, singleTarget } from '../history/former.ts';
import { readMoment } from '../history/moment.ts';
import { withoutManagedFields } from '../objects/comparable.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { jsonText } from '../output/json.ts';
import { unifiedDiff, writeDiff } from '../output/unified-diff.ts';
import { foldedYaml } from '../output/yaml.ts';

/** The exit status when versions differ, and after a failure. */
const differs = 1;
const failed = 2;

/** The flags with which `diff` compares versions of one object. */
export const diffVersionsFlags = {
  from: text('', 'Compare the object TYPE NAME as it was at this resourceVersion, or so long ago, such as 5m.'),
  to: text('', 'The other resourceVersion or age. By default the latest version.'),
};

type Context = CommandContext<typeof diffVersionsFlags>;

/** Compares two versions of an object. Resolves to the exit status. @throws CommandError */
export async function diffVersions(context: Context): Promise<number> {
  try {
    const difference = await differenceOf(context);
    writeDiff(context.io.stdout, difference);
    return difference === '' ? 0 : differs;
  } catch (error) {
    if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
    throw new CommandError(errorText(error), { status: failed, prefixed: false, cause: error });
  }
}

async function differenceOf({ args, flags, io, path, cluster }: Context): Promise<string> {
  if (flags.from === '') throw new CommandError('--from is required with --to');
  const opened = await cluster();
  const target = singleTarget(await targetsOf(opened, args), path);
  const now = io.clock.now();
  const from = await stateAt(opened, target, flags.from, now);
  const to = await stateAt(opened, target, flags.to, now);
  const [before, after] = maskedPair(from, to);
  const changes = unifiedDiff(yamlOf(before ?? {}), yamlOf(after));
  return changes === '' ? '' : `--- ${nameOf(target, from)}\n+++ ${nameOf(target, to)}\n${changes}`;
}

/** The object at a moment; without one, its latest version. @throws CommandError when it did not exist then */
async function stateAt(cluster: Cluster, target: Target, moment: string, now: number): Promise<JsonObject> {
  if (moment === '') return cluster.send({ url: pathOfTarget(target) });
  const version = await readMoment(cluster, moment, now);
  const object = await readAt(cluster, target, version);
  if (object !== undefined) return object;
  throw new CommandError(`${target.resource.name} ${JSON.stringify(target.name)} did not exist at version ${version}`);
}

const nameOf = ({ resource, name }: Target, object: JsonObject): string =>
  `${resource.name}/${name}\tresourceVersion ${jsonText(at(object, 'metadata', 'resourceVersion'))}`;

/** An object as YAML without what every write changes. */
function yamlOf(object: JsonObject): string {
  const { metadata, ...rest } = withoutManagedFields(object);
  if (!isJsonObject(metadata)) return foldedYaml(object);
  const { resourceVersion: _, ...shown } = metadata;
  return foldedYaml({ ...rest, metadata: shown });
}
