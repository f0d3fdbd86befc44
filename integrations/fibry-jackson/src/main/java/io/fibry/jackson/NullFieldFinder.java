package io.fibry.jackson;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;

/**
 * Finds the fields whose null values reached a constructor that then threw. Used by one thread, for
 * one body.
 */
final class NullFieldFinder extends DeserializationProblemHandler {
  private List<String> names = List.of(); // names in JSON

  /** Returns the names of the fields that were null, in the order of the constructor. */
  List<String> names() {
    return names;
  }

  @Override
  public Object handleInstantiationProblem(DeserializationContext context, Class<?> type, Object argument,
      Throwable failure) {
    names = List.of();
    var deserializer = context.findNonContextualValueDeserializer(context.constructType(type));
    if (argument instanceof Object[] values && deserializer instanceof BeanDeserializerBase bean) {
      var fields = bean.getValueInstantiator().getFromObjectArguments(context.getConfig());
      if (fields != null && fields.length == values.length) {
        names = new ArrayList<>();
        for (int i = 0; i < values.length; i++) if (values[i] == null) names.add(fields[i].getName());
      }
    }
    return NOT_HANDLED;
  }
}
