/** The types of the variables `request` and `namespaceObject`. */
import { boolType, dynType, intType, listType, mapType, stringType, timestampType } from '../../cel/index.ts';
import { expressionTypes } from '../../meta/index.ts';
import { objectType } from './values.ts';

const nameOf = (type: string): string => `${expressionTypes}.${type}`;

const texts = listType(stringType);
const textMap = mapType(stringType, stringType);

const kindType = objectType(nameOf('GroupVersionKind'), {
  group: stringType,
  version: stringType,
  kind: stringType,
});
const resourceType = objectType(nameOf('GroupVersionResource'), {
  group: stringType,
  version: stringType,
  resource: stringType,
});
const userType = objectType(nameOf('UserInfo'), {
  username: stringType,
  uid: stringType,
  groups: texts,
  extra: mapType(stringType, texts),
});

/** An AdmissionRequest without uid, object and oldObject. */
export const requestType = objectType(nameOf('AdmissionRequest'), {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userType,
  dryRun: boolType,
  options: dynType,
});

const metadataType = objectType(nameOf('NamespaceMetadata'), {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  labels: textMap,
  annotations: textMap,
  UID: stringType,
  creationTimestamp: timestampType,
  deletionGracePeriodSeconds: intType,
  deletionTimestamp: timestampType,
  generation: intType,
  resourceVersion: stringType,
  finalizers: texts,
});
const conditionType = objectType(nameOf('NamespaceCondition'), {
  status: stringType,
  type: stringType,
  lastTransitionTime: timestampType,
  message: stringType,
  reason: stringType,
});

/** A Namespace with those fields that expressions may read. */
export const namespaceType = objectType(nameOf('Namespace'), {
  metadata: metadataType,
  spec: objectType(nameOf('NamespaceSpec'), { finalizers: texts }),
  status: objectType(nameOf('NamespaceStatus'), { conditions: listType(conditionType), phase: stringType }),
});
