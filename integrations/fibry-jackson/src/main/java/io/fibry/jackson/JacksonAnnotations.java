package io.fibry.jackson;

import com.fasterxml.jackson.annotation.JacksonAnnotation;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.stream.Stream;

/** What Jackson's annotations say of records and enums. One of them counts; others are refused. */
final class JacksonAnnotations {
  private JacksonAnnotations() {}

  static String nameOf(RecordComponent component) {
    check(component.getDeclaringRecord());
    String name = component.getName();
    return named(name, field(component.getDeclaringRecord(), name), component.getAccessor(), parameter(component));
  }

  static String nameOf(Enum<?> constant) {
    check(constant.getDeclaringClass());
    return named(constant.name(), field(constant.getDeclaringClass(), constant.name()));
  }

  /** The annotation is at one or more of these; that of a component is at all where it may be. */
  private static String named(String name, AnnotatedElement... places) {
    return Arrays.stream(places).map(place -> place.getAnnotation(JsonProperty.class))
        .filter(property -> property != null && !property.value().isEmpty()).map(JsonProperty::value).findFirst()
        .orElse(name);
  }

  /** Returns the parameter of the constructor that takes all components. */
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
        .flatMap(one -> Stream.concat(Stream.of(one), Arrays.stream(one.getParameters())));
    var members = Stream.concat(Arrays.stream(type.getDeclaredFields()), Arrays.stream(type.getDeclaredMethods()));
    Stream.concat(Stream.of(type), Stream.concat(constructors, members)).forEach(JacksonAnnotations::checkElement);
  }

  private static void checkElement(AnnotatedElement element) {
    for (var annotation : element.getAnnotations())
      if (annotation.annotationType().isAnnotationPresent(JacksonAnnotation.class)
          && annotation.annotationType() != JsonProperty.class)
        throw new IllegalArgumentException("@" + annotation.annotationType().getSimpleName() + " at " + element
            + " has no effect here, where only @JsonProperty has one; take it away, or let a mapper write the type: "
            + "JacksonCodec.of(type, forms, mapped -> mapped.map(..))");
  }
}
