/** Builds what the tests of this folder run: some 20 minutes the first time. */
import { goModule, goTool } from '../support/go-tool.ts';
import { kubePrograms } from '../support/kube-programs.ts';
import { ENVOY_GATEWAY, GATEWAY_CRDS, ISTIO_CRDS, KUSTOMIZE, PILOT } from './tools.ts';

await kubePrograms();
for (const tool of [KUSTOMIZE, ENVOY_GATEWAY, PILOT]) await goTool(tool);
for (const { module, version } of [ISTIO_CRDS, GATEWAY_CRDS]) await goModule(module, version);
