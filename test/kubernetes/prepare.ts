/** Builds what the tests of this folder run: ten minutes the first time. */
import { ISTIO_CRDS, KUSTOMIZE } from '../mesh/tools.ts';
import { goModule, goTool } from '../support/go-tool.ts';
import { INFERENCE_EXTENSION } from '../support/kube-cluster.ts';
import { kubePrograms } from '../support/kube-programs.ts';
import { CERT_MANAGER_CRDS, PROMETHEUS_OPERATOR_CRDS } from './tools.ts';

await kubePrograms();
await goTool(KUSTOMIZE);
const sources = [INFERENCE_EXTENSION, CERT_MANAGER_CRDS, PROMETHEUS_OPERATOR_CRDS, ISTIO_CRDS];
for (const { module, version } of sources) await goModule(module, version);
