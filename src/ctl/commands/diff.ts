import { maskedPair } from '../../client/index.ts';
import { type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError, errorText } from '../errors.ts';
import { text, toggle } from '../flags/flag.ts';
import { withoutManagedFields } from '../objects/comparable.ts';
import { filenameFlags, hasFiles, type Manifest, placeDocument, readDocuments } from '../objects/manifests.ts';
import { matchesSelector } from '../objects/matches-selector.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';
import { unifiedDiff, writeDiff } from '../output/unified-diff.ts';
import { foldedYaml } from '../output/yaml.ts';
import { diffVersions, diffVersionsFlags } from './diff-versions.ts';

/** The exit status when objects differ, and after a failure. */
const differs = 1;
const failed = 2;

export const diffCommand = command({
  name: 'diff',
  summary: 'Diff the live version against a would-be applied version',
  description: `Diff configurations specified by file name or stdin between the current online configuration, and the configuration as it would be if applied.

Exit status: 0 No differences were found. 1 Differences were found. >1 orch ctl failed with an error.`,
  usage: '(-f FILENAME | -k DIRECTORY | TYPE NAME --from=VERSION [--to=VERSION])',
  examples: [
    { title: 'Diff resources included in pod.json', lines: ['ctl diff -f pod.json'] },
    { title: 'Diff two versions of a config map', lines: ['ctl diff configmap settings --from=4710 --to=4711'] },
    { title: 'Diff file read from stdin', lines: ['cat service.yaml | orch ctl diff -f -'] },
  ],
  flags: {
    ...filenameFlags,
    ...diffVersionsFlags,
    fieldManager: text('kubectl', 'Name of the manager used to track field ownership.'),
    forceConflicts: toggle(false, 'If true, apply takes over fields that other managers own.'),
    selector: selectorFlags.selector,
    serverSide: toggle(true, 'Apply runs in the server; this client has no other way to apply.'),
    showManagedFields: toggle(false, 'If true, include managed fields in the diff.'),
  },
  run: async (context) => {
    const { args, flags, io, cluster } = context;
    if (flags.from !== '' || flags.to !== '') return diffVersions(context);
    if (args.length > 0) throw new CommandError(`Unexpected args: [${args.join(' ')}]`, { status: failed });
    if (!hasFiles(flags)) throw new CommandError('must specify one of -f and -k', { status: failed });
    const opened = await cluster();
    let status = 0;
    try {
      for (const document of await readDocuments(flags, io)) {
        if (!matchesSelector(document.object, flags.selector)) continue;
        const manifest = await placeDocument(opened, document);
        const query = { fieldManager: flags.fieldManager, force: flags.forceConflicts };
        const text = await difference(opened, manifest, query, flags.showManagedFields);
        writeDiff(io.stdout, text);
        if (text !== '') status = differs;
      }
    } catch (error) {
      if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
      throw new CommandError(errorText(error), { status: failed, prefixed: false, cause: error });
    }
    return status;
  },
});

async function difference(
  cluster: Cluster,
  { object, resource, namespace, name }: Manifest,
  query: { readonly fieldManager: string; readonly force: boolean },
  showManagedFields: boolean,
): Promise<string> {
  const path = objectPath(resource, namespace, name);
  const live = await cluster.send({ url: path }).catch((error: unknown) => {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  });
  const merged = await cluster.send({
    method: 'PATCH',
    url: urlOf(path, { ...query, dryRun: 'All' }),
    body: object,
    contentType: 'application/apply-patch+yaml',
  });
  const [before, after] = maskedPair(live, merged);
  const text = (shown: JsonObject | undefined) =>
    shown === undefined ? '' : foldedYaml(showManagedFields ? shown : withoutManagedFields(shown));
  const changes = unifiedDiff(text(before), text(after));
  if (changes === '') return '';
  const file = [resource.apiVersion.replace('/', '.'), resource.kind, namespace ?? '', name].join('.');
  return `diff -u -N LIVE/${file} MERGED/${file}\n--- LIVE/${file}\n+++ MERGED/${file}\n${changes}`;
}
