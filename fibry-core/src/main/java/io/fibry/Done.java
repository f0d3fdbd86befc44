package io.fibry;

/**
 * The answer to a request that has no result, as in
 * {@code record Save(String text) implements Request<Save, Done>}. Answers are never null, so a
 * handler answers such a request with {@code DONE}.
 * {@snippet class="io.fibry.JavadocSnippetsTest" region="done"}
 */
public enum Done {
  /** The only value. */
  DONE
}
