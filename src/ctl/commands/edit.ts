import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at, isJsonObject, type Json, type JsonObject, jsonEqual, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { qualifiedName } from '../cluster/resource.ts';
import { type CommandContext, command } from '../command.ts';
import { CommandError, causeText } from '../errors.ts';
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
    for (const edited of await editedObjects(context, cluster)) await editObject(context, cluster, edited, reporter);
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

/**
 * Opens the editor until the server accepts the object or the user leaves the file unchanged. The file of an edit that was
 * not accepted remains, and a message names it.
 */
async function editObject(context: EditContext, cluster: Cluster, edited: Edited, reporter: Reporter): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-edit-'));
  let isKept = false;
  try {
    await editFile(context, cluster, edited, { file: join(folder, 'object.yaml'), reporter });
  } catch (error) {
    isKept = error instanceof RefusedEdit;
    throw error;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}

/** Ends the command; the file of the edit remains. */
class RefusedEdit extends CommandError {}

interface Destination {
  readonly file: string;
  readonly reporter: Reporter;
}

async function editFile(
  { flags: values, io, path }: EditContext,
  cluster: Cluster,
  { target, object }: Edited,
  { file, reporter }: Destination,
): Promise<void> {
  const before = values.showManagedFields ? object : withoutManagedFields(object);
  const name = `${qualifiedName(target.resource)} ${JSON.stringify(target.name)}`;
  const storedCopy = (message: string) => {
    io.stderr.write(`A copy of your changes has been stored to ${JSON.stringify(file)}\n`);
    return new RefusedEdit(message);
  };
  let content = foldedYaml(before);
  for (let problems = ''; ; ) {
    await writeFile(file, help + problems + content, { mode: 0o600 });
    await openEditor(io, file);
    const previous = content;
    content = (await readFile(file, 'utf8')).replaceAll(/^#.*\n?/gm, '');
    if (content === previous && problems !== '') throw storedCopy('Edit cancelled, no valid changes were saved.');
    try {
      const after = content.trim() === '' ? before : objectOf(content);
      if (jsonEqual(after, before)) {
        io.stderr.write('Edit cancelled, no changes made.\n');
        return;
      }
      if (!isSameObject(before, after)) throw storedCopy('At least one of apiVersion, kind and name was changed');
      const query = { ...changeQuery(values, 'none'), fieldValidation: fieldValidationOf(values) };
      const url = urlOf(pathOfTarget(target), query);
      const [body, contentType] = [mergePatch(before, after), 'application/merge-patch+json'];
      reporter.changed(await cluster.send({ method: 'PATCH', url, body, contentType }), 'edited');
      return;
    } catch (error) {
      const lines = problemLines(error);
      if (lines === undefined) throw refusal(error, { name, file, path });
      io.stderr.write(`error: ${name} is invalid\n`);
      const comment = [`${name} was not valid:`, ...lines].join('\n').replaceAll('\n', '\n# ');
      problems = `# ${comment}\n#\n`;
    }
  }
}

/** @throws UnreadableEdit */
function objectOf(content: string): JsonObject {
  try {
    const [object, ...more] = objectsIn(content, 'the edited file');
    if (object !== undefined && more.length === 0) return object;
  } catch (cause) {
    throw new UnreadableEdit((cause as Error).message, { cause });
  }
  throw new UnreadableEdit('the file must have one object');
}

class UnreadableEdit extends Error {}

const isSameObject = (before: JsonObject, after: JsonObject): boolean =>
  before['apiVersion'] === after['apiVersion'] &&
  before['kind'] === after['kind'] &&
  at(before, 'metadata', 'name') === at(after, 'metadata', 'name');

/** The errors that the user can correct in the editor; undefined for other errors. */
function problemLines(error: unknown): string[] | undefined {
  if (error instanceof UnreadableEdit) return [`* ${error.message}`];
  if (!(error instanceof StatusError) || error.reason !== 'Invalid') return undefined;
  const causes = error.details?.causes ?? [];
  return causes.length === 0 ? [`* ${error.message}`] : causes.map((cause) => `* ${causeText(cause)}`);
}

/** The end of an edit that another try in the editor cannot help. */
function refusal(error: unknown, { name, file, path }: { name: string; file: string; path: string }): unknown {
  if (!(error instanceof StatusError)) return error;
  if (error.code === 404) {
    return new RefusedEdit(
      `${name} could not be found on the server\nThe edits you made on deleted resources have been saved to ${JSON.stringify(file)}`,
    );
  }
  const replace = `${path.replace(/edit$/, 'replace')} -f ${file}`;
  return new RefusedEdit(
    `${name} could not be patched: ${error.message}\nYou can run \`${replace}\` to try this update again.`,
  );
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
