import type { Json, JsonObject } from '../../../meta/index.ts';
import { isJsonObject } from '../../../meta/index.ts';
import { objectPath } from '../../cluster/resource.ts';
import { command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { duration, repeatable, text } from '../../flags/flag.ts';
import { resourceOf } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';
import { outputFlags, printerOf } from '../../output/printer.ts';

const boundKinds = ['Node', 'Pod', 'Secret'];

export const tokenCommand = command({
  name: 'token',
  summary: 'Request a service account token',
  description: 'Request a service account token.',
  usage: 'SERVICE_ACCOUNT_NAME',
  examples: [{ title: 'Request a token with a custom expiration', lines: ['ctl create token myapp --duration 10m'] }],
  flags: {
    ...outputFlags,
    audience: repeatable('Audience of the requested token. If unset, defaults to the audience of the server.'),
    boundObjectKind: text('', 'Kind of an object to bind the token to.'),
    boundObjectName: text('', 'Name of an object to bind the token to.'),
    boundObjectUid: text('', 'UID of an object to bind the token to.'),
    duration: duration(0, 'Requested lifetime of the issued token.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    const [name = ''] = args;
    if (args.length !== 1) throw usageError(`exactly one NAME is required, got ${args.length}`, path);
    if (flags.duration < 0) throw new CommandError('--duration must be greater than or equal to 0');
    const { boundObjectKind: kind, boundObjectName: objectName, boundObjectUid: uid } = flags;
    if (kind === '' && (objectName !== '' || uid !== '')) {
      throw new CommandError('--bound-object-name and --bound-object-uid require --bound-object-kind');
    }
    if (kind !== '' && !boundKinds.includes(kind))
      throw new CommandError(`supported --bound-object-kind values are ${boundKinds.join(', ')}`);
    const opened = await cluster();
    const { names } = await opened.discovery();
    const bound: JsonObject = {
      apiVersion: 'v1',
      kind,
      ...(objectName === '' ? {} : { name: objectName }),
      ...(uid === '' ? {} : { uid }),
    };
    const spec: { [field: string]: Json } = {
      audiences: flags.audience.length === 0 ? null : [...flags.audience],
      expirationSeconds: flags.duration === 0 ? null : Math.floor(flags.duration / 1000),
      boundObjectRef: kind === '' ? null : bound,
    };
    const account = objectPath(await resourceOf(opened, 'serviceaccounts'), opened.namespace, name);
    const body = { apiVersion: `authentication.${names.domain}/v1`, kind: 'TokenRequest', spec };
    const printer = await printerOf(flags, { write: (line) => io.stdout.write(line), folder: io.folder });
    const answer = await opened.send({ method: 'POST', url: `${account}/token`, body }).catch((error: unknown) => {
      throw new CommandError(`failed to create token: ${(error as Error).message}`, { cause: error });
    });
    if (printer !== undefined) printer.print(answer);
    else {
      const { status = null } = answer;
      io.stdout.write(`${isJsonObject(status) ? jsonText(status['token']) : ''}\n`);
    }
    return 0;
  },
});
