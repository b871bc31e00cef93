import type { CommandContext } from '../command.ts';
import { integer, list, text, toggle } from '../flags/flag.ts';
import { filenameFlags } from '../objects/manifests.ts';
import { selectorFlags } from '../objects/selection.ts';
import type { Target } from '../objects/targets.ts';
import { getFormats, outputFlags } from '../output/printer.ts';
import type { TableOptions } from '../output/server-table.ts';
import { statusColour } from '../output/status-colour.ts';
import { paint } from '../output/terminal.ts';

/** The flags of `get`. */
export const getFlags = {
  ...filenameFlags,
  ...outputFlags,
  ...selectorFlags,
  allNamespaces: toggle(
    false,
    'If present, list the requested object(s) across all namespaces. Namespace in current context is ignored even if specified with --namespace.',
    { short: 'A' },
  ),
  at: text(
    '',
    'Show the state at this resourceVersion, or so long ago, such as 5m. Without a type: of all resources. Single objects need a server with --object-history.',
  ),
  chunkSize: integer(500, 'Return large lists in chunks rather than all at once. Pass 0 to disable.'),
  ignoreNotFound: toggle(false, 'If the requested object does not exist the command will return exit code 0.'),
  labelColumns: list('Accepts a comma separated list of labels that are going to be presented as columns.', {
    short: 'L',
  }),
  noHeaders: toggle(
    false,
    "When using the default or custom-column output format, don't print headers (default print headers).",
  ),
  output: text('', `Output format. One of: (${getFormats.join(', ')}).`, { short: 'o' }),
  outputWatchEvents: toggle(
    false,
    'Output watch event objects when --watch or --watch-only is used. Existing objects are output as initial ADDED events.',
  ),
  raw: text('', 'Raw URI to request from the server. Uses the transport specified by the kubeconfig file.'),
  serverPrint: toggle(
    true,
    'If true, have the server return the appropriate table output. Supports extension APIs and CRDs.',
  ),
  showKind: toggle(false, 'If present, list the resource type for the requested object(s).'),
  showLabels: toggle(false, 'When printing, show all labels as the last column (default hide labels column).'),
  sortBy: text(
    '',
    "If non-empty, sort list types using this field specification, a JSONPath expression such as '{.metadata.name}'.",
  ),
  subresource: text('', 'If specified, gets the subresource of the requested object.'),
  watch: toggle(false, 'After listing/getting the requested object, watch for changes.', { short: 'w' }),
  watchOnly: toggle(false, 'Watch for changes to the requested object(s), without listing/getting first.'),
};

export type GetContext = CommandContext<typeof getFlags>;

/** The layout of the tables of a command. */
export function tableOptions({ flags: values, io }: GetContext, targets: readonly Target[]): TableOptions {
  return {
    wide: values.output === 'wide',
    noHeaders: values.noHeaders,
    withNamespace: values.allNamespaces,
    withKind: values.showKind || new Set(targets.map(({ resource }) => resource)).size > 1,
    showLabels: values.showLabels,
    labelColumns: values.labelColumns,
    paintStatus: (status) => paint(io.stdout, statusColour(status), status),
  };
}
