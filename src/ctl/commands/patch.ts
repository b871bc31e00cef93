import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { type Json, type JsonObject, jsonEqual, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { command } from '../command.ts';
import { CommandError, throwAll } from '../errors.ts';
import { text, type ValuesOf } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { changeFlags, changeQuery, dryRunOf, Reporter } from '../objects/change.ts';
import { type PatchFormat, patchLocally } from '../objects/local-patch.ts';
import { filenameFlags, hasFiles } from '../objects/manifests.ts';
import { localFlag, localObjects, manifestsOf, mediaTypes } from '../objects/patch.ts';
import { urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';

const formats: { readonly [type: string]: PatchFormat } = { json: 'json', merge: 'merge', strategic: 'strategic' };

export const patchCommand = command({
  name: 'patch',
  summary: 'Update fields of a resource',
  description: 'Update fields of a resource using strategic merge patch, a JSON merge patch, or a JSON patch.',
  usage: '(-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]',
  examples: [
    {
      title: 'Partially update a node using a strategic merge patch, specifying the patch as JSON',
      lines: [`ctl patch node k8s-node-1 -p '{"spec":{"unschedulable":true}}'`],
    },
    {
      title: "Update a container's image using a JSON patch with positional arrays",
      lines: [
        `ctl patch pod valid-pod --type='json' -p='[{"op": "replace", "path": "/spec/containers/0/image", "value":"new image"}]'`,
      ],
    },
  ],
  flags: {
    ...changeFlags('kubectl-patch'),
    ...filenameFlags,
    ...localFlag,
    patch: text('', 'The patch to be applied to the resource JSON file.', { short: 'p' }),
    patchFile: text('', 'A file containing a patch to be applied to the resource.'),
    subresource: text('', 'If specified, patch will operate on the subresource of the requested object.'),
    type: text('strategic', 'The type of patch being provided; one of [json merge strategic]'),
  },
  run: async ({ args, flags, io, cluster }) => {
    if ((flags.patch === '') === (flags.patchFile === '')) {
      throw new CommandError(
        flags.patch === ''
          ? 'must specify --patch or --patch-file containing the contents of the patch'
          : 'cannot specify --patch and --patch-file together',
      );
    }
    const format = formats[flags.type.toLowerCase()];
    if (format === undefined) {
      throw new CommandError(`--type must be one of [json merge strategic], not ${JSON.stringify(flags.type)}`);
    }
    const source =
      flags.patch === '' ? await readPatch(resolve(io.folder, flags.patchFile), flags.patchFile) : flags.patch;
    const patch = parsePatch(source);
    const dryRun = dryRunOf(flags, io);
    // The reference client does not mention the dry run of a patch.
    const reporter = await Reporter.open(flags, 'none', io);
    const report = (before: JsonObject, after: JsonObject) =>
      reporter.changed(after, jsonEqual(before, after) ? 'patched (no change)' : 'patched');
    if (flags.local) {
      const objects = await localObjects(args, flags, io, 'cannot specify --local and server resources');
      for (const object of objects) report(object, await patchLocally(object, format, patch));
      return 0;
    }
    const opened = await cluster();
    const errors: unknown[] = [];
    for (const target of await targetsOfPatch(opened, args, flags, io)) {
      const { subresource } = flags;
      const path = pathOfTarget(subresource === '' ? target : { ...target, subresource });
      try {
        const before = await opened.send({ url: path });
        const url = urlOf(path, changeQuery(flags, dryRun));
        const request = { method: 'PATCH', url, body: patch, contentType: mediaTypes[format] } as const;
        report(before, await (dryRun === 'client' ? patchLocally(before, format, patch) : opened.send(request)));
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        errors.push(error);
      }
    }
    throwAll(errors);
    return 0;
  },
});

/** @throws CommandError when nothing is named, or no object of a type */
async function targetsOfPatch(
  cluster: Cluster,
  args: readonly string[],
  values: ValuesOf<typeof filenameFlags>,
  io: Io,
): Promise<Target[]> {
  if (hasFiles(values)) return (await manifestsOf(cluster, args, values, io)).map(({ target }) => target);
  const targets = await targetsOf(cluster, args);
  if (targets.some(({ name }) => name === undefined))
    throw new CommandError('resource(s) were provided, but no name was specified');
  if (targets.length === 0) throw new CommandError('You must provide one or more resources by argument or filename.');
  return targets;
}

async function readPatch(full: string, path: string): Promise<string> {
  try {
    return await readFile(full, 'utf8');
  } catch (cause) {
    throw new CommandError(`unable to read patch file: open ${path}: no such file or directory`, { cause });
  }
}

/** A patch in JSON or YAML. @throws CommandError */
function parsePatch(text: string): Json {
  try {
    return parseYaml(Buffer.from(text)).value;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(`unable to parse ${JSON.stringify(text)}: ${error.message}`, { cause: error });
  }
}
