package io.fibry.jackson;

import com.fasterxml.jackson.annotation.JacksonAnnotation;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Reads the names that {@code @JsonProperty} gives to components of records and to enum constants.
 * Refuses Jackson's other annotations.
 */
final class JacksonAnnotations {
  private JacksonAnnotations() {}

  static String nameOf(RecordComponent component) {
    check(component.getDeclaringRecord());
    String name = component.getName();
    return propertyName(name, field(component.getDeclaringRecord(), name), component.getAccessor(),
        parameter(component));
  }

  static String nameOf(Enum<?> constant) {
    check(constant.getDeclaringClass());
    return propertyName(constant.name(), field(constant.getDeclaringClass(), constant.name()));
  }

  /**
   * Returns the name in the first {@code @JsonProperty} with a name, otherwise the given name. The
   * compiler copies an annotation of a component to its field, accessor and parameter.
   */
  private static String propertyName(String name, AnnotatedElement... elements) {
    return Arrays.stream(elements).map(element -> element.getAnnotation(JsonProperty.class))
        .filter(property -> property != null && !property.value().isEmpty()).map(JsonProperty::value).findFirst()
        .orElse(name);
  }

  /** Returns the component's parameter of the canonical constructor. */
  private static AnnotatedElement parameter(RecordComponent component) {
    var components = component.getDeclaringRecord().getRecordComponents();
    var types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    var names = Arrays.stream(components).map(RecordComponent::getName).toList();
    try {
      var constructor = component.getDeclaringRecord().getDeclaredConstructor(types);
      return constructor.getParameters()[names.indexOf(component.getName())];
    } catch (NoSuchMethodException impossible) {
      throw new LinkageError(component.toString(), impossible);
    }
  }

  private static AnnotatedElement field(Class<?> type, String name) {
    try {
      return type.getDeclaredField(name);
    } catch (NoSuchFieldException impossible) {
      throw new LinkageError(type.getName(), impossible);
    }
  }

  private static void check(Class<?> type) {
    var constructors = Arrays.stream(type.getDeclaredConstructors())
        .flatMap(constructor -> Stream.concat(Stream.of(constructor), Arrays.stream(constructor.getParameters())));
    var members = Stream.concat(Arrays.stream(type.getDeclaredFields()), Arrays.stream(type.getDeclaredMethods()));
    Stream.concat(Stream.of(type), Stream.concat(constructors, members)).forEach(JacksonAnnotations::checkElement);
  }

  private static void checkElement(AnnotatedElement element) {
    for (var annotation : element.getAnnotations())
      if (annotation.annotationType().isAnnotationPresent(JacksonAnnotation.class)
          && annotation.annotationType() != JsonProperty.class)
        throw new IllegalArgumentException("@" + annotation.annotationType().getSimpleName() + " at " + element
            + " has no effect here, where only @JsonProperty is applied; remove it, or let a mapper write the type: "
            + "JacksonCodecs.of(type, forms, mapped -> mapped.map(..))");
  }
}
