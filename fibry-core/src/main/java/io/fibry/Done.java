package io.fibry;

/**
 * The answer to a request that only asks to be told when it is done, as in
 * {@code record Save(String text) implements Request<Save, Done>}. Answers are never null.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="done"}
 */
public enum Done {
  /** The only one. */
  DONE
}
