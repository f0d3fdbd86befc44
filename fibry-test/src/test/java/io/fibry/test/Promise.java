package io.fibry.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Names the promises of docs/semantics.md that a test checks: "30.4" is line 4 of section 30. */
@Target(ElementType.METHOD)
public @interface Promise {
  String[] value();
}
