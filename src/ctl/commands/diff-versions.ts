import { stringifyYaml } from '../../codec/index.ts';
import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { CommandContext } from '../command.ts';
import { CommandError } from '../errors.ts';
import { text } from '../flags/flag.ts';
import { readAt, singleTarget } from '../history/former.ts';
import { readMoment } from '../history/moment.ts';
import { unifiedDiff } from '../history/unified-diff.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';

/** The flags with which `diff` compares versions of one object. */
export const diffVersionsFlags = {
  from: text('', 'Compare the object TYPE NAME as it was at this resourceVersion, or this long ago, such as 5m.'),
  to: text('', 'The other resourceVersion or age. By default the latest version.'),
};

/** Compares two versions of an object. Resolves to the exit status of `diff`: 1 when they differ. @throws CommandError */
export async function diffVersions(context: CommandContext<typeof diffVersionsFlags>): Promise<number> {
  const { args, flags, io, path, cluster } = context;
  if (flags.from === '') throw new CommandError('--from is required with --to');
  const opened = await cluster();
  const target = singleTarget(await targetsOf(opened, args), path);
  const sides = [];
  for (const [flag, moment] of Object.entries({ from: flags.from, to: flags.to })) {
    const object = await stateAt(opened, target, moment, io.clock.now());
    const where = moment === '' ? 'the latest version' : `--${flag}=${moment}`;
    if (object === undefined)
      throw new CommandError(
        `${path}: ${target.resource.name} ${JSON.stringify(target.name)} did not exist at ${where}`,
      );
    sides.push(object);
  }
  const [from, to] = sides as [JsonObject, JsonObject];
  const diff = unifiedDiff(yamlOf(from), yamlOf(to), { from: nameOf(target, from), to: nameOf(target, to) });
  io.stdout.write(diff);
  return diff === '' ? 0 : 1;
}

async function stateAt(cluster: Cluster, target: Target, moment: string, now: number): Promise<JsonObject | undefined> {
  if (moment === '') return cluster.send({ url: pathOfTarget(target) });
  return readAt(cluster, target, await readMoment(cluster, moment, now));
}

const nameOf = ({ resource, name }: Target, { metadata }: JsonObject): string =>
  `${resource.name}/${name}\tresourceVersion ${isJsonObject(metadata) ? String(metadata['resourceVersion']) : ''}`;

/** An object as YAML without what every write changes. */
function yamlOf(object: JsonObject): string {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return stringifyYaml(object);
  const { managedFields: _, resourceVersion: __, ...rest } = metadata;
  return stringifyYaml({ ...object, metadata: rest });
}
