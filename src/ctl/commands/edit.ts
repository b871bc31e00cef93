import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, jsonEqual, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type CommandContext, command } from '../command.ts';
import { CommandError, errorText } from '../errors.ts';
import { text } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { changeFlags, changeQuery, fieldValidationOf, Reporter, validateFlag } from '../objects/change.ts';
import { withoutManagedFields } from '../objects/comparable.ts';
import { filenameFlags, hasFiles, objectsIn, placeDocument, readDocuments } from '../objects/manifests.ts';
import { objectsOfTarget } from '../objects/pages.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { foldedYaml } from '../output/yaml.ts';

const { dryRun: _, ...shared } = changeFlags('kubectl-edit');
const flags = {
  ...shared,
  ...validateFlag,
  ...filenameFlags,
  selector: selectorFlags.selector,
  subresource: text('', 'If specified, edit will operate on the subresource of the requested object.'),
};

type EditContext = CommandContext<typeof flags>;

const help = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`;

export const editCommand = command({
  name: 'edit',
  summary: 'Edit a resource on the server',
  description:
    'Edit a resource from the default editor.\n\n The editor is the one of the variable KUBE_EDITOR or EDITOR, or vi. The changes are sent as a merge patch.',
  usage: '(RESOURCE/NAME | -f FILENAME)',
  examples: [
    { title: "Edit the service named 'registry'", lines: ['ctl edit svc/registry'] },
    { title: 'Use an alternative editor', lines: ['KUBE_EDITOR="nano" orch ctl edit svc/registry'] },
  ],
  flags,
  run: async (context) => {
    const cluster = await context.cluster();
    const reporter = await Reporter.open(context.flags, 'none', context.io);
    for (const { target, object } of await editedObjects(context, cluster)) {
      await editObject(context, cluster, target, object, reporter);
    }
    return 0;
  },
});

interface Edited {
  readonly target: Target;
  readonly object: JsonObject;
}

async function editedObjects({ args, flags: values, io }: EditContext, cluster: Cluster): Promise<Edited[]> {
  const targets: Target[] = [];
  if (hasFiles(values))
    for (const one of await readDocuments(values, io)) targets.push(await placeDocument(cluster, one));
  else if (args.length === 0) {
    throw new CommandError(
      `You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'`,
    );
  } else for (const one of await targetsOf(cluster, args)) targets.push(one);
  const edited: Edited[] = [];
  for (const target of targets) {
    const placed = values.subresource === '' ? target : { ...target, subresource: values.subresource };
    for (const object of await objectsOfTarget(cluster, placed, { selectors: { selector: values.selector } })) {
      const { name = '', namespace } = object['metadata'] as { name?: string; namespace?: string };
      edited.push({ target: { ...placed, name, namespace }, object });
    }
  }
  return edited;
}

/** Opens the editor until the server accepts the object, or the file is not changed any more. */
async function editObject(
  { flags: values, io }: EditContext,
  cluster: Cluster,
  target: Target,
  object: JsonObject,
  reporter: Reporter,
): Promise<void> {
  const before = values.showManagedFields ? object : withoutManagedFields(object);
  const folder = await mkdtemp(join(tmpdir(), 'orch-edit-'));
  const file = join(folder, 'object.yaml');
  let shown = help + foldedYaml(before);
  try {
    for (;;) {
      await writeFile(file, shown, { mode: 0o600 });
      await openEditor(io, file);
      const after = await readFile(file, 'utf8');
      const content = after.replaceAll(/^#.*\n?/gm, '');
      if (content.trim() === '' || after === shown) {
        io.stderr.write('Edit cancelled, no changes made.\n');
        return;
      }
      try {
        const [edited, ...more] = objectsIn(content, 'edited file');
        if (edited === undefined || more.length > 0) throw new CommandError('the file must have one object');
        if (jsonEqual(edited, before)) {
          io.stderr.write('Edit cancelled, no changes made.\n');
          return;
        }
        const url = urlOf(pathOfTarget(target), {
          ...changeQuery(values, 'none'),
          fieldValidation: fieldValidationOf(values),
        });
        const contentType = 'application/merge-patch+json';
        reporter.changed(
          await cluster.send({ method: 'PATCH', url, body: mergePatch(before, edited), contentType }),
          'edited',
        );
        return;
      } catch (error) {
        if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
        if (after === shown || io.stdin.isTTY !== true) throw error;
        const problem = errorText(error)
          .split('\n')
          .map((line) => `# ${line}\n`)
          .join('');
        shown = `${help}${problem}#\n${content}`;
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The JSON Merge Patch (RFC 7396) from one object to another. */
function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const entries: [string, Json][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[key], after[key]];
    if (to === undefined) entries.push([key, null]);
    else if (isJsonObject(from) && isJsonObject(to)) {
      const inner = mergePatch(from, to);
      if (Object.keys(inner).length > 0) entries.push([key, inner]);
    } else if (!jsonEqual(from, to)) entries.push([key, to]);
  }
  return Object.fromEntries(entries);
}

/** Runs the editor on the terminal of this process, until Ctrl-C. @throws CommandError when it fails */
function openEditor({ env, signal }: Io, file: string): Promise<void> {
  const editor = env['KUBE_EDITOR'] || env['EDITOR'] || 'vi';
  return new Promise((resolve, reject) => {
    // The variable may have arguments, which a shell takes apart; the file is its first argument.
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
      stdio: 'inherit',
      env,
      signal,
    });
    const failed = (why: string) =>
      reject(new CommandError(`there was a problem with the editor ${JSON.stringify(editor)}: ${why}`));
    child.once('error', (error) => failed(error.message));
    child.once('close', (code) => (code === 0 ? resolve() : failed(`exit status ${code}`)));
  });
}
