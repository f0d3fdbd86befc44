package io.fibry.engine.message;

import io.fibry.engine.jvm.MessageTexts;

/** An actor, as logs and exceptions describe it and its messages. */
public interface DescribedActor {
  String name();

  /** Returns whether logs and exceptions may show the contents of its messages. */
  boolean mayLogContents();

  /** Returns the text by which an exception names a request. */
  default String describeRequest(Object request) {
    return MessageTexts.describeRequest(request, mayLogContents());
  }

  default String describe(Object message) {
    return MessageTexts.describe(message, mayLogContents());
  }
}
