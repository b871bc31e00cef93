import { apiRelease, formatRelease, type JsonObject } from '../../meta/index.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { text, toggle } from '../flags/flag.ts';
import { indentedJson, jsonText } from '../output/json.ts';
import { foldedYaml } from '../output/yaml.ts';

export const versionCommand = command({
  name: 'version',
  summary: 'Print the client and server version information',
  description: 'Print the client and server version information for the current context.',
  usage: '',
  examples: [{ title: 'Print the client and server versions for the current context', lines: ['ctl version'] }],
  flags: {
    client: toggle(false, 'If true, shows client version only (no server required).'),
    output: text('', "One of 'yaml' or 'json'.", { short: 'o' }),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (args.length > 0) {
      throw new CommandError(`extra arguments: ${args.join(' ')}\nSee '${path} -h' for help and examples`);
    }
    if (!['', 'yaml', 'json'].includes(flags.output)) throw new CommandError(`--output must be 'yaml' or 'json'`);
    const release = formatRelease(apiRelease);
    const gitVersion = `v${release}.0+orch.${io.version}`;
    const [major = '', minor = ''] = release.split('.');
    const platform = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`;
    const client = { major, minor, gitVersion, compiler: 'node', platform };
    const server = flags.client ? undefined : await (await cluster()).send({ url: '/version' });
    const versions: JsonObject = { clientVersion: client, ...(server === undefined ? {} : { serverVersion: server }) };
    if (flags.output === 'json') io.stdout.write(`${indentedJson(versions, { sorted: false })}\n`);
    else if (flags.output === 'yaml') io.stdout.write(`${foldedYaml(versions)}\n`);
    else {
      io.stdout.write(`Client Version: ${gitVersion}\n`);
      if (server !== undefined) io.stdout.write(`Server Version: ${jsonText(server['gitVersion'])}\n`);
    }
    return 0;
  },
});
