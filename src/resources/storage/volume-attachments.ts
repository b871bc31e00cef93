import { dns1123Subdomain, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { VolumeAttachment, VolumeAttachmentSpec, type VolumeAttachmentStatus } from '../../types/storage-v1.ts';
import { validateDriverName } from '../core/persistent-volume-sources.ts';
import { validateInlineVolume } from '../core/persistent-volumes.validation.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, same } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';

export const volumeAttachments = resource({
  group: 'storage.{domain}',
  plural: 'volumeattachments',
  kind: 'VolumeAttachment',
  schema: VolumeAttachment,
  lifecycle: { introduced: '1.13' },
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']] },
  columns: [
    name,
    { name: 'Attacher', type: 'string', format: 'name', cell: ({ spec }) => spec?.attacher ?? '' },
    ['PV', ({ spec }) => spec?.source?.persistentVolumeName ?? ''],
    ['Node', ({ spec }) => spec?.nodeName ?? ''],
    ['Attached', ({ status }) => status?.attached ?? false, 'boolean'],
    age,
  ],
  strategy: {
    metadataChecks: [1, 0],
    returnsDeleted: true,
    unconditionalUpdate: false,
    validate: ({ spec = {}, status = {} }, { names }) => [...validateSpec(spec, names), ...validateStatus(status)],
    validateUpdate: ({ spec }, old) =>
      same(spec, old.spec)
        ? []
        : [fieldError.invalid('spec', internalForm(spec, VolumeAttachmentSpec), 'field is immutable')],
  },
});

function validateSpec({ attacher = '', source = {}, nodeName = '' }: VolumeAttachmentSpec, names: Names): FieldError[] {
  const { persistentVolumeName: volume, inlineVolumeSpec: inline } = source;
  const errors = validateDriverName(attacher, 'spec.attacher');
  const at = 'spec.source';
  const why = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (volume === undefined && inline === undefined) errors.push(fieldError.required(at, why));
  else if (volume !== undefined && inline !== undefined) errors.push(fieldError.forbiddenSubtree(at, why));
  else if (volume === '') {
    errors.push(fieldError.required(`${at}.persistentVolumeName`, 'must specify non empty persistentVolumeName'));
  }
  if (volume !== undefined) errors.push(...byRule(`${at}.persistentVolumeName`, volume, dns1123Subdomain));
  else if (inline !== undefined) errors.push(...validateInlineVolume(inline, `${at}.inlineVolumeSpec`, names));
  return [...errors, ...byRule('spec.nodeName', nodeName, dns1123Subdomain)];
}

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;

function validateStatus({ attachmentMetadata = {}, attachError, detachError }: VolumeAttachmentStatus): FieldError[] {
  const errors: FieldError[] = [];
  const size = Object.entries(attachmentMetadata).reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  if (size > MAX_METADATA_BYTES) errors.push(fieldError.tooLong('status.attachmentMetadata', MAX_METADATA_BYTES));
  for (const [field, error] of Object.entries({ attachError, detachError })) {
    const { message = '', errorCode = 0 } = error ?? {};
    // The error shows the limit of metadata, not that of messages.
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) {
      errors.push(fieldError.tooLong(`status.${field}.message`, MAX_METADATA_BYTES));
    }
    if (errorCode < 0) {
      const range = 'must be between 0 and 2147483647, inclusive';
      errors.push(fieldError.invalid(`status.${field}.errorCode`, errorCode, range));
    }
  }
  return errors;
}
