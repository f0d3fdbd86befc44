package io.fibry.engine.message;

import io.fibry.engine.jvm.MessageTexts;

/** Describes an actor and its messages in logs and exceptions. */
public interface DescribedActor {
  String name();

  /** Returns whether logs and exceptions may show the contents of the actor's messages. */
  boolean mayLogContents();

  /** Returns the text by which an exception names a request. */
  default String describeRequest(Object request) {
    return MessageTexts.describeRequest(request, mayLogContents());
  }

  default String describe(Object message) {
    return MessageTexts.describe(message, mayLogContents());
  }
}
