import { at, isJsonObject, type Json, type JsonObject } from '../../../meta/index.ts';
import type { Volume } from '../../../types/core-v1.ts';
import { jsonText } from '../json.ts';
import { pairLines } from './pairs.ts';

/** A field: its name, and its path in the volume source or its value there. */
type Row = readonly [name: string, value: string | ((source: JsonObject) => string)];

const yesNo =
  (path: string): Row[1] =>
  (source) =>
    String(source[path] === true);
const readOnly: Row = ['ReadOnly', yesNo('readOnly')];

/** The volume sources: what kubectl prints as their type, and their fields. */
const volumeTypes: { readonly [source in keyof Volume]?: readonly [type: string, rows: readonly Row[]] } = {
  hostPath: [
    'HostPath (bare host directory volume)',
    [
      ['Path', 'path'],
      ['HostPathType', 'type'],
    ],
  ],
  emptyDir: [
    "EmptyDir (a temporary directory that shares a pod's lifetime)",
    [
      ['Medium', 'medium'],
      ['SizeLimit', ({ sizeLimit = '0' }) => (sizeLimit === '0' ? '<unset>' : jsonText(sizeLimit))],
    ],
  ],
  secret: [
    'Secret (a volume populated by a Secret)',
    [
      ['SecretName', 'secretName'],
      ['Optional', yesNo('optional')],
    ],
  ],
  configMap: [
    'ConfigMap (a volume populated by a ConfigMap)',
    [
      ['Name', 'name'],
      ['Optional', yesNo('optional')],
    ],
  ],
  nfs: ['NFS (an NFS mount that lasts the lifetime of a pod)', [['Server', 'server'], ['Path', 'path'], readOnly]],
  persistentVolumeClaim: [
    'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    [['ClaimName', 'claimName'], readOnly],
  ],
  csi: [
    'CSI (a Container Storage Interface (CSI) volume source)',
    [['Driver', 'driver'], ['FSType', 'fsType'], readOnly],
  ],
  downwardAPI: ['DownwardAPI (a volume populated by information about the pod)', []],
  projected: ['Projected (a volume that contains injected data from multiple sources)', []],
  ephemeral: [
    'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)',
    [
      ['StorageClass', (source) => jsonText(at(source, 'volumeClaimTemplate', 'spec', 'storageClassName'))],
      ['Volume', (source) => jsonText(at(source, 'volumeClaimTemplate', 'spec', 'volumeName'))],
    ],
  ],
  image: [
    'Image (a container image or OCI artifact)',
    [
      ['Reference', 'reference'],
      ['PullPolicy', 'pullPolicy'],
    ],
  ],
};

/** The fields of the sources of a projected volume. */
const projections: { readonly [source: string]: readonly Row[] } = {
  secret: [
    ['SecretName', 'name'],
    ['Optional', yesNo('optional')],
  ],
  downwardAPI: [['DownwardAPI', () => 'true']],
  configMap: [
    ['ConfigMapName', 'name'],
    ['Optional', yesNo('optional')],
  ],
  serviceAccountToken: [['TokenExpirationSeconds', 'expirationSeconds']],
};

/** The lines about volumes, with tabs between names and values. `indent` precedes each. */
export function volumeLines(volumes: readonly Volume[], indent: string): string[] {
  if (volumes.length === 0) return [`${indent}Volumes:\t<none>`];
  return [`${indent}Volumes:`, ...volumes.flatMap((volume) => linesOf(volume as unknown as JsonObject, indent))];
}

function linesOf(volume: JsonObject, indent: string): string[] {
  const head = `${indent}${indent === '' ? '' : ' '}${jsonText(volume['name'])}:`;
  const key = Object.keys(volume).find((name) => Object.hasOwn(volumeTypes, name)) as keyof Volume | undefined;
  const [type, rows] = (key && volumeTypes[key]) ?? [];
  const source = key && volume[key];
  if (type === undefined || rows === undefined || !isJsonObject(source)) return [head, '  <unknown>'];
  return [head, `    Type:\t${type}`, ...rowLines(rows, source), ...listLines(source, key)];
}

const rowLines = (rows: readonly Row[], source: JsonObject): string[] =>
  rows.map(([name, value]) => `    ${name}:\t${typeof value === 'string' ? jsonText(source[value]) : value(source)}`);

/** The lines about the lists and maps of a source. */
function listLines(source: JsonObject, key: keyof Volume | undefined): string[] {
  if (key === 'downwardAPI') {
    const items = itemsOf(source['items']).map((item) => {
      const field = at(item, 'fieldRef', 'fieldPath') ?? at(item, 'resourceFieldRef', 'resource');
      return `      ${jsonText(field)} -> ${jsonText(item['path'])}`;
    });
    return ['    Items:', ...items];
  }
  if (key === 'projected') {
    return itemsOf(source['sources']).flatMap((item) =>
      Object.entries(item).flatMap(([name, part]) =>
        isJsonObject(part) && Object.hasOwn(projections, name) ? rowLines(projections[name] ?? [], part) : [],
      ),
    );
  }
  if (key === 'csi') return pairLines('    VolumeAttributes', source['volumeAttributes'], '=');
  if (key !== 'ephemeral') return [];
  const template = (...path: string[]) => at(source, 'volumeClaimTemplate', ...path);
  return [
    ...pairLines('    Labels', template('metadata', 'labels'), '=', '\t    '),
    ...pairLines('    Annotations', template('metadata', 'annotations'), '=', '\t    '),
    '    Capacity:\t',
    '    Access Modes:\t',
    `    VolumeMode:\t${jsonText(template('spec', 'volumeMode'))}`,
  ];
}

const itemsOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
