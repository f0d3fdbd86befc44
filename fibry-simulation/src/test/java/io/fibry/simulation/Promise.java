package io.fibry.simulation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Names the promises of docs/semantics.md that a test checks: "29.4" is line 4 of section 29. */
@Target(ElementType.METHOD)
public @interface Promise {
  String[] value();
}
