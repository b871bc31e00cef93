import { command } from '../command.ts';
import { usageError } from '../errors.ts';

export const apiVersionsCommand = command({
  name: 'api-versions',
  summary: 'Print the supported API versions on the server, in the form of "group/version"',
  usage: '',
  examples: [{ title: 'Print the supported API versions', lines: ['ctl api-versions'] }],
  flags: {},
  run: async ({ args, io, path, cluster }) => {
    if (args.length > 0) throw usageError(`unexpected arguments: [${args.join(' ')}]`, path);
    const discovery = await (await cluster()).discovery();
    await discovery.refresh();
    const versions = new Set(discovery.resources.map(({ apiVersion }) => apiVersion));
    io.stdout.write(
      [...versions]
        .toSorted()
        .map((version) => `${version}\n`)
        .join(''),
    );
    return 0;
  },
});
