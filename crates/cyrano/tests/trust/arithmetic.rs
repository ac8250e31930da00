//! C integers have their widths, and wrap or overflow as C11 says.
