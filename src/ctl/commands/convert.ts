import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { list, text } from '../flags/flag.ts';
import { validateFlag } from '../objects/change.ts';

export const convertCommand = command({
  name: 'convert',
  summary: 'Convert config files between different API versions',
  description:
    'Convert config files between different API versions. Both YAML and JSON formats are accepted. The conversion is that of "orch convert", which lists the details.',
  usage: '-f FILENAME --output-version=GROUP/VERSION',
  examples: [
    {
      title: "Convert 'pod.yaml' to another version and print to stdout",
      lines: ['ctl convert -f hpa.yaml --output-version=autoscaling/v2'],
    },
  ],
  flags: {
    ...validateFlag,
    definitions: list('Sources of the definitions of custom kinds: files, folders, or the kubeconfig of a server.'),
    filename: list('Filename or directory to files that need to get converted, or - for standard input.', {
      short: 'f',
    }),
    output: text('yaml', 'Output format. One of: (json, yaml).', { short: 'o' }),
    outputVersion: text('', 'Output the formatted object with the given group version (for ex: apps/v1).'),
  },
  run: async ({ flags, globals, io, cluster }) => {
    if (flags.filename.length === 0) throw new CommandError('must specify one of -f and -k');
    if (flags.outputVersion === '')
      throw new CommandError('--output-version must be set: there is no version that all kinds have');
    const domain = await cluster()
      .then((opened) => opened.discovery())
      .then(({ names }) => names.domain)
      // Built-in kinds need no server.
      .catch(() => undefined);
    const { validate } = flags;
    const spelled: { readonly [value: string]: string } = { true: 'strict', false: 'ignore' };
    await io.convert([
      ...flags.filename.map((file) => `--filename=${file}`),
      ...flags.definitions.map((source) => `--definitions=${source}`),
      `--output-version=${flags.outputVersion}`,
      `--output=${flags.output}`,
      `--validate=${spelled[validate] ?? validate}`,
      ...(domain === undefined ? [] : [`--api-domain=${domain}`]),
      ...(globals.kubeconfig === '' ? [] : [`--kubeconfig=${globals.kubeconfig}`]),
    ]);
    return 0;
  },
});
