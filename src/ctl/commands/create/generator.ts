/** Commands that create one object from flags. */
import { isJsonObject, type Json, type JsonObject, type Names } from '../../../meta/index.ts';
import { pathOf } from '../../cluster/resource.ts';
import { type Command, type CommandContext, command } from '../../command.ts';
import { CommandError, duringAction, usageError } from '../../errors.ts';
import { type FlagTable, nameOfKey, type ValuesOf } from '../../flags/flag.ts';
import { changeFlags, changeQuery, dryRunOf, fieldValidationOf, Reporter, validateFlag } from '../../objects/change.ts';
import { urlOf } from '../../objects/selection.ts';

export interface Generator<F extends FlagTable> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly usage: string;
  /** The flags of the command line, without the program: one example a line. */
  readonly example: string;
  readonly flags: F;
  /** The keys of the flags that must be set. */
  readonly required?: readonly (keyof F & string)[];
  /** Arguments after the name are allowed, such as those of a container. */
  readonly takesCommand?: boolean;
  /** Objects of the kind have no namespace. */
  readonly isClusterScoped?: boolean;
  /** Makes the object, without a namespace. */
  build(input: GeneratorInput<F>): Promise<JsonObject> | JsonObject;
}

export interface GeneratorInput<F> {
  readonly name: string;
  /** Arguments after the name. */
  readonly rest: readonly string[];
  readonly flags: ValuesOf<F>;
  readonly context: CommandContext<F>;
  /** The names of the API domain of the server. */
  readonly names: () => Promise<Names>;
}

const shared = { ...changeFlags('kubectl-create'), ...validateFlag };

/** The command of a generator. */
export function generator<F extends FlagTable>(definition: Generator<F>): Command {
  const { name, aliases, summary, usage, example, takesCommand = false, required = [] } = definition;
  const { isClusterScoped = false } = definition;
  const flags: FlagTable = { ...shared, ...definition.flags };
  return command({
    name,
    ...(aliases === undefined ? {} : { aliases }),
    summary,
    description: `${summary}.`,
    usage,
    examples: [{ title: summary, lines: [`ctl create ${example}`] }],
    flags,
    run: async (context) => {
      const missing = required.filter((key) => !context.isSet(key)).map((key) => `"${nameOfKey(key)}"`);
      if (missing.length > 0) throw new CommandError(`required flag(s) ${missing.join(', ')} not set`);
      const named = takesCommand ? (context.argsBeforeDash ?? context.args.length) : context.args.length;
      if (named !== 1) throw usageError(`exactly one NAME is required, got ${named}`, context.path);
      const [objectName = '', ...rest] = context.args;
      const typed = context as unknown as CommandContext<F>;
      const names = async () => (await (await context.cluster()).discovery()).names;
      const built = await definition.build({ name: objectName, rest, flags: typed.flags, context: typed, names });
      const placed = isClusterScoped ? built : inNamespace(built, context.globals.namespace);
      await createGenerated(context as unknown as CommandContext<typeof shared>, placed, name);
      return 0;
    },
  });
}

async function createGenerated(
  { flags, io, cluster }: CommandContext<typeof shared>,
  object: JsonObject,
  what: string,
): Promise<void> {
  const dryRun = dryRunOf(flags, io);
  const fieldValidation = fieldValidationOf(flags);
  const reporter = await Reporter.open(flags, dryRun, io);
  if (dryRun === 'client') {
    reporter.changed(object, 'created');
    return;
  }
  const opened = await cluster();
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const resource = await (await opened.discovery()).findKind(apiVersion, kind);
  if (resource === undefined) throw new CommandError(`no matches for kind "${kind}" in version "${apiVersion}"`);
  const url = urlOf(pathOf(resource, opened.namespace), { ...changeQuery(flags, dryRun), fieldValidation });
  const created = await opened.send({ method: 'POST', url, body: object }).catch((error: unknown) => {
    throw creationError(error, what);
  });
  reporter.changed(created, 'created');
}

/** Puts an object into the namespace of the command line, if there is one. */
function inNamespace(object: JsonObject, namespace: string): JsonObject {
  const { metadata = null } = object;
  return namespace === '' || !isJsonObject(metadata) ? object : { ...object, metadata: { ...metadata, namespace } };
}

/** Names the command in an error of the server. */
function creationError(error: unknown, what: string): unknown {
  const sourced = duringAction(error, `failed to create ${what}`);
  return sourced === error ? error : new CommandError((sourced as Error).message, { cause: error });
}

/** The beginning of a generated object. The reference client prints these empty fields too. */
export const objectOf = (
  apiVersion: string,
  kind: string,
  name: string,
  rest: { readonly [field: string]: Json },
): JsonObject => ({
  apiVersion,
  kind,
  metadata: { creationTimestamp: null, name },
  ...rest,
});

/** `key=value` pairs as an object. @throws CommandError */
export function pairsOf(pairs: readonly string[], what: string): { [key: string]: string } {
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new CommandError(`invalid ${what} ${pair}, expected key=value`);
    values.set(pair.slice(0, at), pair.slice(at + 1));
  }
  return Object.fromEntries(values);
}
