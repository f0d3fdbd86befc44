package io.fibry.opentelemetry;

import io.fibry.Actor;
import io.fibry.ContextPropagator.HandlerStep;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;

/** The names and attributes of spans, by the semantic conventions for messaging. */
final class SpanNames {
  private static final String OPERATION = "handle";
  private static final String ANONYMOUS = "anonymous@";

  private static final AttributeKey<String> MESSAGE_TYPE = AttributeKey.stringKey("fibry.message.type");
  private static final AttributeKey<String> DESTINATION = AttributeKey.stringKey("messaging.destination.name");
  private static final AttributeKey<Boolean> IS_ANONYMOUS =
      AttributeKey.booleanKey("messaging.destination.anonymous");
  static final Attributes HANDLING = Attributes.of(
      AttributeKey.stringKey("messaging.system"), "fibry",
      AttributeKey.stringKey("messaging.operation.name"), OPERATION,
      AttributeKey.stringKey("messaging.operation.type"), "process");

  private SpanNames() {}

  /** Returns a name of which there are few, although there may be many entities and actors. */
  static String nameOf(Actor<?> actor) {
    var name = actor.name();
    if (name.startsWith(ANONYMOUS)) return OPERATION;
    int slash = name.indexOf('/'); // account/ada is an entity, web/17 a connection
    return OPERATION + " " + (slash < 0 ? name : name.substring(0, slash));
  }

  /** Returns the name of a step, of which there are few. */
  static String nameOf(HandlerStep step) {
    return switch (step.kind()) {
      case EXCHANGE -> step.name();
      case DURABLE_STEP -> "step " + step.name();
      case COMMIT -> "commit";
      case CLIENT_MESSAGE -> step.name().isEmpty() ? "message" : "message " + step.name();
      case QUEUE_WORK -> OPERATION + " " + step.name();
    };
  }

  static Attributes attributesOf(Actor<?> actor, Object message) {
    var attributes = HANDLING.toBuilder().put(DESTINATION, actor.name());
    if (actor.name().startsWith(ANONYMOUS)) attributes.put(IS_ANONYMOUS, true);
    var type = message.getClass();
    // a lambda has a name for one run of the program; a type of the library only wraps a message
    if (!type.isHidden() && !type.getName().startsWith("io.fibry.")) attributes.put(MESSAGE_TYPE, type.getName());
    return attributes.build();
  }
}
