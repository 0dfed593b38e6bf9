package io.throttlekit.deploy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import java.lang.reflect.InvocationTargetException;
import java.time.OffsetDateTime;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The models of Kubernetes' OpenAPI and of the Prometheus Operator, which know every field. They
 * are found by name, because their class files name annotations that are not on the class path.
 */
final class KubernetesModels {
  private static final Map<String, String> KUBERNETES =
      Map.of(
          "v1 ConfigMap", "V1ConfigMap",
          "v1 Pod", "V1Pod",
          "v1 Service", "V1Service",
          "v1 ServiceAccount", "V1ServiceAccount",
          "apps/v1 Deployment", "V1Deployment",
          "autoscaling/v2 HorizontalPodAutoscaler", "V2HorizontalPodAutoscaler",
          "networking.k8s.io/v1 NetworkPolicy", "V1NetworkPolicy",
          "policy/v1 PodDisruptionBudget", "V1PodDisruptionBudget");
  private static final String OPERATOR = "monitoring.coreos.com/v1 ";

  /**
   * Times are in no manifest, but in the models; without it, fields of the JDK's class are read.
   */
  private final Gson gson =
      new GsonBuilder()
          .registerTypeAdapter(
              OffsetDateTime.class,
              (JsonSerializer<OffsetDateTime>) (time, _, _) -> new JsonPrimitive(time.toString()))
          .create();

  private final ObjectMapper jackson = new ObjectMapper();

  KubernetesModels() {
    jackson.setAnnotationIntrospector(new UnknownFieldsAreErrors());
  }

  /** The models keep unknown fields; this makes them errors. */
  private static final class UnknownFieldsAreErrors extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public Boolean hasAnySetter(Annotated annotated) {
      return false;
    }
  }

  /** Returns why Kubernetes would reject an object; null if it would not. */
  @Nullable String mistake(Manifest manifest) {
    String type = manifest.text("apiVersion") + " " + manifest.kind();
    String model = KUBERNETES.get(type);
    try {
      if (model != null) {
        JsonElement tree = gson.toJsonTree(manifest.fields());
        Class<?> found = Class.forName("io.kubernetes.client.openapi.models." + model);
        found.getMethod("validateJsonElement", JsonElement.class).invoke(null, tree);
        Object read = gson.fromJson(tree, found);
        return read == null ? "empty" : null;
      }
      if (type.startsWith(OPERATOR)) {
        Class<?> found =
            Class.forName("io.fabric8.openshift.api.model.monitoring.v1." + manifest.kind());
        Object read = jackson.convertValue(manifest.fields(), found);
        return read == null ? "empty" : null;
      }
      return "unknown type " + type;
    } catch (InvocationTargetException e) {
      return String.valueOf(e.getCause());
    } catch (ReflectiveOperationException e) {
      return "unknown type " + type + ": " + e;
    } catch (JsonParseException | IllegalArgumentException e) {
      return e.toString();
    }
  }
}
