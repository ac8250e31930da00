//! What is shown has been confirmed, or says that it has not.
